"""Unexpected data loaders: the recording notes them, and the profiler leaves no traces in them."""

import gc
import json
import os
import queue
import re
import sys
import time
import warnings

import pytest
from collecting import Late, late_at

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

from loading import SEVERAL, Slow, exported, linked, named  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

import stepscope  # noqa: E402
from stepscope.profiler import ProfilerError, _dataloader, profile, record_function, schedule  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def begin_own(number):
    with profile(activities=[]) as own:
        with record_function("mine"):
            pass
    assert [event.name for event in own.events()] == ["mine"]


def replaced():
    return [getattr(owner, name) for owner, name, _ in _dataloader.parts()]


def test_nothing_stays_behind():
    before = replaced()
    prof = profile(schedule=schedule(wait=1, warmup=1, active=1))
    prof.start()
    assert all(now is not then for now, then in zip(replaced(), before)) and _dataloader.VARIABLE in os.environ
    prof.stop()
    assert replaced() == before and _dataloader.VARIABLE not in os.environ
    prof.start()
    del prof
    gc.collect()
    assert replaced() == before
    with pytest.raises(ProfilerError), profile() as prof:
        profile().start()
    assert replaced() == before


def test_nothing_stays_behind_where_a_killed_worker_is_told_of_late():
    """PyTorch raises from its SIGCHLD handler, at any line of the program."""
    before = replaced()
    for number in range(2, 1000):
        trace, lines = late_at(number)
        try:
            with profile() as prof:
                torch.ones(1)
                sys.settrace(trace)
        except Late:
            pass
        finally:
            sys.settrace(None)
        with profile() as after, record_function("after"):
            torch.ones(1)
        assert {"after", "aten::ones"} <= {event.name for event in after.events()}, number
        del prof, after
        assert replaced() == before and _dataloader.VARIABLE not in os.environ, number
        if lines[0] < number:
            break
    assert 30 < number < 999


def test_temporary_recordings_go_with_their_workers():
    with profile() as prof:
        list(DataLoader(Slow(4, 0), num_workers=2))
    path = prof.recording_path
    assert len(list(path.parent.glob(f"{path.stem}*"))) == 3
    del prof
    gc.collect()
    assert list(path.parent.glob(f"{path.stem}*")) == []


def test_iterators_from_before_are_left_alone(tmp_path):
    iterator = iter(DataLoader(Slow(8, 0.001), num_workers=2))
    next(iterator)
    with profile(path=tmp_path / "run.stepscope") as prof:
        assert len(list(iterator)) == 7
    events = exported(prof, tmp_path)
    assert len(named(events, SEVERAL)) == 8 and not linked(events)
    assert len(list(tmp_path.glob("*.stepscope"))) == 1


def test_a_program_may_profile_in_a_worker(tmp_path):
    with profile() as prof:
        batches = list(DataLoader(Slow(4, 0.001), num_workers=1, worker_init_fn=begin_own))
    assert len(batches) == 4
    prof.export_chrome_trace(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("broken", "workers_that_say_so"),
    [("{}", 2), ("no JSON", 2), ('{"parent": 1, "link": 2, "flags": "x"}', 0)],  # the last is for another process's workers
)
def test_surprises_change_nothing_and_are_said(monkeypatch, capfd, broken, workers_that_say_so):
    with profile():
        monkeypatch.setenv(_dataloader.VARIABLE, broken)
        loader = DataLoader(Slow(4, 0), num_workers=2, multiprocessing_context="fork")  # a forkserver has its own environment
        assert [int(batch[0][0]) for batch in loader] == [0, 1, 2, 3]
    assert capfd.readouterr().err.count("Not recorded: what DataLoader workers do (") == workers_that_say_so


LOADER = "torch.utils.data.dataloader"


@pytest.mark.parametrize(
    ("owner", "name", "what", "lacks"),
    [
        (
            "torch.utils.data._utils.pin_memory",
            "_pin_memory_loop",
            "copies of batches into pinned memory",
            "torch.utils.data._utils.pin_memory._pin_memory_loop with the arguments in_queue, out_queue",
        ),
        (LOADER, "_SingleProcessDataLoaderIter", "collating in the main process", f"{LOADER}._SingleProcessDataLoaderIter.__init__"),
        (f"{LOADER}._BaseDataLoaderIter", "__next__", "waits for batches", f"{LOADER}._BaseDataLoaderIter.__next__"),
    ],
)
def test_a_missing_part_is_named_wherever_the_recording_is_read(tmp_path, monkeypatch, owner, name, what, lacks):
    monkeypatch.delattr(f"{owner}.{name}")
    path = tmp_path / "run.stepscope"
    note = f"Not recorded: {what} (this PyTorch has no {lacks})."
    with profile(path=path) as prof:
        torch.ones(1)
    with pytest.warns(UserWarning, match=re.escape(note)):
        prof.events()
    with pytest.warns(UserWarning, match=re.escape(note)):
        prof.export_chrome_trace(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_bytes())["stepscope.not_recorded"] == [note]
    for file in (path, tmp_path / "run.json"):
        assert stepscope.open(file).notes == [note]
    monkeypatch.undo()
    with profile(path=path):
        torch.ones(1)
    assert stepscope.open(path).notes == []


def test_arguments_that_are_missing_are_named(tmp_path, monkeypatch):
    def loop(tasks, results):
        pass

    monkeypatch.setattr("torch.utils.data._utils.worker._worker_loop", loop)
    with profile(path=tmp_path / "run.stepscope"):
        pass
    (note,) = stepscope.open(tmp_path / "run.stepscope").notes
    assert note.startswith("Not recorded: what DataLoader workers do (") and "with the arguments index_queue, data_queue" in note


def test_a_failure_in_between_is_said_once_in_each_recording(tmp_path, monkeypatch, capfd):
    def broken(worker, epoch, index):
        raise KeyError("gone")

    monkeypatch.setattr(_dataloader, "batch_id", broken)
    with profile(path=tmp_path / "run.stepscope", schedule=schedule(wait=0, warmup=0, active=1, repeat=2)) as prof:
        for _ in range(2):
            assert [int(batch[0][0]) for batch in DataLoader(Slow(3, 0), num_workers=1)] == [0, 1, 2]
            prof.step()
    note = "Not recorded: which DataLoader worker made a batch (KeyError: 'gone')."
    for name in ("run.stepscope", "run.2.stepscope"):
        assert stepscope.open(tmp_path / name).notes == [note]
    assert capfd.readouterr().err.count("Not recorded: what DataLoader workers do (KeyError: 'gone')") == 2


def test_a_link_that_cannot_be_made_is_said(tmp_path, monkeypatch):
    def refused(kind):
        raise PermissionError("no room here")

    monkeypatch.setattr(_dataloader, "own_file", refused)
    with profile(path=tmp_path / "run.stepscope"):
        assert len(list(DataLoader(Slow(4, 0), num_workers=1))) == 4
    assert stepscope.open(tmp_path / "run.stepscope").notes == ["Not recorded: what DataLoader workers do (PermissionError: no room here)."]


def test_pinning(tmp_path, monkeypatch):
    """The pinning thread's loop as in PyTorch, without a device."""

    def loop(in_queue, out_queue, device_id, done_event, device=None):
        while (task := in_queue.get(timeout=1)) is not None:
            time.sleep(0.01)
            out_queue.put(task, timeout=1)

    with profile() as prof:
        monkeypatch.setitem(_dataloader.originals, _dataloader.pin_loop, loop)
        before, behind = queue.Queue(), queue.Queue()
        for task in [(0, "a"), (1, "b"), None]:
            before.put(task)
        _dataloader.pin_loop(before, behind, 0, None, None)
    pins = named(exported(prof, tmp_path), "DataLoader.pin_memory")
    assert len(pins) == 2 and all(e["dur"] >= 10_000 for e in pins)
    assert [behind.get_nowait() for _ in range(2)] == [(0, "a"), (1, "b")]


def test_a_loader_that_marks_nothing_is_marked(tmp_path, monkeypatch):
    from torch.utils.data import dataloader

    def quiet(self):
        return self._next_data()

    monkeypatch.setattr(dataloader._BaseDataLoaderIter, "__next__", quiet)
    with profile() as prof:
        list(DataLoader(Slow(3, 0), num_workers=1))
    assert dataloader._BaseDataLoaderIter.__next__ is quiet
    events = exported(prof, tmp_path)
    assert len(named(events, SEVERAL)) == 4 and len(linked(events)) == 3
