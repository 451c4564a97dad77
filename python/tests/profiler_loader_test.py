"""Data loading in recordings: what workers do, and which batch of theirs the loop takes when."""

import gc
import json
import os
import queue
import signal
import subprocess
import sys
import time
import warnings

import pytest
from collecting import Late, late_at

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info  # noqa: E402

import stepscope  # noqa: E402
from stepscope.profiler import ProfilerError, _dataloader, profile, record_function, schedule  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

SEVERAL = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
SLEEP = 0.03


class Slow(Dataset):
    """Gives (index, process, ns that it slept)."""

    def __init__(self, size, sleep=SLEEP):
        self.size, self.sleep = size, sleep

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        began = time.perf_counter_ns()
        time.sleep(self.sleep)
        return torch.tensor([index, os.getpid(), time.perf_counter_ns() - began])


class Uneven(Slow):
    """The first worker is slower, so that batches come out of order."""

    def __getitem__(self, index):
        time.sleep(0.1 * (get_worker_info().id == 0))
        return super().__getitem__(index)


class Stream(IterableDataset):
    """The first worker has three samples, the second five."""

    def __iter__(self):
        for index in range(3 + 2 * get_worker_info().id):
            time.sleep(0.01)
            yield torch.tensor([index, os.getpid(), 0])


class Killed(Slow):
    def __getitem__(self, index):
        if index == 6:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


def begin_own(number):
    with profile(activities=[]) as own:
        with record_function("mine"):
            pass
    assert [event.name for event in own.events()] == ["mine"]


def seeded(number):
    with record_function(f"init {number}"):
        torch.relu(torch.ones(1))


def events_of(path):
    return json.loads(path.read_text())["traceEvents"]


def exported(prof, folder):
    prof.export_chrome_trace(folder / "exported.json")
    return events_of(folder / "exported.json")


def named(events, name):
    return sorted((e for e in events if e["ph"] == "X" and e["name"] == name), key=lambda e: e["ts"])


def around(events, end):
    """The slice of that thread which the end of an arrow lies in, the innermost one."""
    found = [
        e
        for e in events
        if e["ph"] == "X"
        and e.get("cat") == "user_annotation"
        and (e["pid"], e["tid"]) == (end["pid"], end["tid"])
        and e["ts"] <= end["ts"] <= e["ts"] + e["dur"]
    ]
    return min(found, key=lambda e: e["dur"])


def linked(events):
    """Pairs of ranges: where a batch was made, and where it was taken, in the order of the latter."""
    ends = [e for e in events if e.get("cat") == "dataloader"]
    begun = {e["id"]: e for e in ends if e["ph"] == "s"}
    taken = {e["id"]: e for e in ends if e["ph"] == "f"}
    assert begun.keys() == taken.keys() and len(ends) == 2 * len(begun)
    pairs = [(around(events, begun[key]), around(events, taken[key])) for key in begun]
    assert all(made["name"] == "DataLoader.fetch" and took["name"] == SEVERAL for made, took in pairs)
    assert all(made["ts"] + made["dur"] <= took["ts"] + took["dur"] for made, took in pairs)
    assert len({id(made) for made, _ in pairs}) == len({id(took) for _, took in pairs}) == len(pairs)
    return sorted(pairs, key=lambda pair: pair[1]["ts"])


def agrees(events, batches, epochs=1):
    """Each batch that the loop got is linked to the fetch of the process that it says it is from, in its place there."""
    pairs = linked(events)
    assert [made["pid"] for made, _ in pairs] == [int(batch[0][1]) for batch in batches]
    assert {took["pid"] for _, took in pairs} == {os.getpid()}
    for pid in {made["pid"] for made, _ in pairs}:
        fetches = [made for made, _ in pairs if made["pid"] == pid]
        order = [int(batch[0][0]) for batch in batches if int(batch[0][1]) == pid]
        assert fetches == sorted(fetches, key=lambda e: e["ts"]) and order == sorted(set(order)) * epochs
    return pairs


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_batches_are_linked_to_the_fetch_that_made_them(tmp_path, start):
    with profile(path=tmp_path / "run.stepscope") as prof:
        batches = list(DataLoader(Slow(12), batch_size=2, num_workers=2, multiprocessing_context=start))
    events = exported(prof, tmp_path)
    pairs = agrees(events, batches)
    assert [int(batch[0][0]) for batch in batches] == [0, 2, 4, 6, 8, 10] and len(pairs) == 6
    for (made, _), batch in zip(pairs, batches):
        slept = int(batch[:, 2].sum()) / 1000
        assert slept <= made["dur"] < slept + 20_000
    workers = {made["pid"] for made, _ in pairs}
    assert len(workers) == 2 and os.getpid() not in workers
    names = {e["args"]["name"] for e in events if e["name"] == "process_name" and e["pid"] in workers}
    assert names == {"DataLoader worker 0", "DataLoader worker 1"}
    collates = named(events, "DataLoader.collate")
    assert len(collates) == 6 and {e["pid"] for e in collates} == workers
    stacks = [e for e in events if e["name"] == "aten::stack"]
    assert len(stacks) == 6 and {e["pid"] for e in stacks} == workers
    assert sorted(path.name for path in tmp_path.glob("*.stepscope")) == sorted(
        ["run.stepscope", *(f"run.worker{k}_{int(batches[k][0][1])}.stepscope" for k in (0, 1))]
    )
    assert not [event for event in prof.events() if event.name.startswith("DataLoader.")]


def test_in_any_order(tmp_path):
    order = {"in_order": False} if "in_order" in DataLoader.__init__.__code__.co_varnames else {}
    with profile() as prof:
        batches = list(DataLoader(Uneven(16), batch_size=2, num_workers=2, **order))
    assert len(agrees(exported(prof, tmp_path), batches)) == 8
    firsts = [int(batch[0][0]) for batch in batches]
    assert (firsts != sorted(firsts)) == bool(order)


def test_streams_that_end_at_different_times(tmp_path):
    with profile() as prof:
        batches = list(DataLoader(Stream(), batch_size=1, num_workers=2))
    assert len(agrees(exported(prof, tmp_path), batches)) == 8


def test_workers_that_stay(tmp_path):
    loader = DataLoader(Slow(8, 0.005), batch_size=2, num_workers=2, persistent_workers=True, worker_init_fn=seeded)
    with profile() as prof:
        batches = [batch for _ in range(3) for batch in loader]
    events = exported(prof, tmp_path)
    assert len(agrees(events, batches, epochs=3)) == 12
    assert len(named(events, "init 0")) == len(named(events, "init 1")) == 1


def test_each_cycle_has_its_workers(tmp_path):
    paths = [tmp_path / "run.stepscope", tmp_path / "run.2.stepscope"]
    plan = schedule(wait=2, warmup=1, active=3, repeat=2)
    with profile(path=paths[0], schedule=plan) as prof:
        for _ in DataLoader(Slow(24, 0.02), batch_size=1, num_workers=1, prefetch_factor=2):
            prof.step()
    for path in paths:
        assert len(list(tmp_path.glob(f"{path.stem}.worker0_*.stepscope"))) == 1
        trace = json.loads(export(path, tmp_path).read_text())["traceEvents"]
        steps = [e for e in trace if e["name"].startswith("ProfilerStep#")]
        first, last = min(e["ts"] for e in steps), max(e["ts"] + e["dur"] for e in steps)
        fetches = named(trace, "DataLoader.fetch")
        assert 1 <= len(fetches) <= 4
        assert all(first - 1000 <= e["ts"] and e["ts"] + e["dur"] <= last + 1000 for e in fetches)
        assert linked(trace)


def export(path, folder):
    from stepscope import _core

    output = folder / f"{path.stem}.json"
    _core.export_recording(os.fsencode(path), os.fsencode(output), [])
    return output


def test_a_worker_that_is_killed_leaves_what_it_did(tmp_path):
    path = tmp_path / "run.stepscope"
    with pytest.raises(RuntimeError, match="worker"):
        with profile(path=path):
            try:
                for _ in DataLoader(Killed(16), batch_size=1, num_workers=1):
                    pass
            finally:
                time.sleep(0.2)  # a pipe may tell of the kill before the signal does
    (worker,) = tmp_path.glob("run.worker0_*.stepscope")
    assert len(named(events_of(export(worker, tmp_path)), "DataLoader.fetch")) == 6
    assert len(linked(events_of(export(path, tmp_path)))) >= 4


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
    """PyTorch raises from its handler of SIGCHLD, at whatever line the program is."""
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


@pytest.mark.parametrize("broken", ["{}", "no JSON", '{"parent": 1, "link": 2, "flags": "x"}'])
def test_surprises_change_nothing(monkeypatch, broken):
    with profile():
        monkeypatch.setenv(_dataloader.VARIABLE, broken)
        assert [int(batch[0][0]) for batch in DataLoader(Slow(4, 0), num_workers=2)] == [0, 1, 2, 3]


def test_a_folder_counts_processes_not_workers(tmp_path):
    with profile(path=tmp_path / "run.stepscope"):
        list(DataLoader(Slow(4), num_workers=2))
    (tmp_path / "run.worker9_9.stepscope").write_bytes(b"STEPREC\n" + bytes(5000))
    (tmp_path / "run.worker8.stepscope").write_text("no recording")
    trace = stepscope.open(tmp_path / "run.stepscope")
    assert len(trace.ranks) == 1
    (tmp_path / "run.worker8.stepscope").unlink()
    (tmp_path / "run.worker9_9.stepscope").unlink()
    assert len(stepscope.open(tmp_path).ranks) == 1


def test_workers_of_another_run_are_not_read(tmp_path):
    path = tmp_path / "run.stepscope"
    with profile(path=path):
        list(DataLoader(Slow(4), num_workers=1))
    (old,) = tmp_path.glob("run.worker*")
    kept = old.read_bytes()
    with profile(path=path):
        torch.ones(1)
    assert not list(tmp_path.glob("run.worker*"))
    old.write_bytes(kept)
    assert not named(events_of(export(path, tmp_path)), "DataLoader.fetch")


def test_the_main_process_collates(tmp_path):
    with profile() as prof:
        list(DataLoader(Slow(6, 0), batch_size=2))
    events = exported(prof, tmp_path)
    waits = named(events, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
    collates = named(events, "DataLoader.collate")
    assert len(waits) == 4 and len(collates) == 3
    for wait, collate in zip(waits, collates):
        assert wait["ts"] <= collate["ts"] <= collate["ts"] + collate["dur"] <= wait["ts"] + wait["dur"]


def test_pinning(tmp_path, monkeypatch):
    """The thread's loop as PyTorch has it, without a device."""

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


TRAINING = """
import sys, torch
from torch.utils.data import DataLoader, TensorDataset
if __name__ == "__main__":
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.ones(16, 1))
    for (batch,) in DataLoader(data, num_workers=2, multiprocessing_context=sys.argv[1], prefetch_factor=1):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""
SITE = """
import sys
if "resource_tracker" not in str(sys.orig_argv):  # a helper of multiprocessing, which imports no PyTorch by itself
    import torch
    from stepscope.profiler._outside import begin
    begin(torch)
"""


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("options", [{}, {"steps": "2:12"}])
def test_workers_of_a_program_that_is_recorded_from_outside(tmp_path, start, options):
    """As `stepscope record` does it: spawned workers would be recorded as processes of their own."""
    (tmp_path / "train.py").write_text(TRAINING)
    (tmp_path / "sitecustomize.py").write_text(SITE)
    folder = tmp_path / "out"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "STEPSCOPE_RECORD": json.dumps({"folder": str(folder), **options})}
    subprocess.run([sys.executable, "-W", "ignore", str(tmp_path / "train.py"), start], env=environment, check=True, timeout=120)
    (parent,) = (path for path in folder.iterdir() if ".worker" not in path.name)
    assert len(list(folder.glob(f"{parent.stem}.worker[01]_*.stepscope"))) == len(list(folder.iterdir())) - 1 == 2
    assert len(linked(events_of(export(parent, tmp_path)))) >= 6
    assert len(stepscope.open(folder).ranks) == 1


@pytest.mark.parametrize(("workers", "finding"), [(0, "I01"), (1, "I02")])
def test_waits_and_findings(tmp_path, workers, finding):
    """Ten steps that do nearly nothing but wait for their batch, which takes 60 ms."""
    path = tmp_path / "run.stepscope"
    with profile(path=path, schedule=schedule(wait=0, warmup=1, active=10, repeat=1)) as prof:
        for batch in DataLoader(Slow(13, 0.06), num_workers=workers):
            torch.relu(batch.float())
            prof.step()
    trace = stepscope.open(path)
    steps = trace.analyze("input_wait").tables[0]
    assert steps["step"].to_list() == [str(number) for number in range(1, 11)]
    assert set(steps["loader"].to_list()) == {"multi-process" if workers else "single-process"}
    totals = steps["total"].to_list()[1:]
    assert sum(totals) > 45e6 * len(totals)  # one by one they differ where other programs run
    assert finding in trace.report().findings["id"].to_list()


def test_two_workers_take_turns(tmp_path):
    """A batch takes 60 ms and two are made at a time: a step waits 30 ms on average."""
    path = tmp_path / "run.stepscope"
    with profile(path=path, schedule=schedule(wait=0, warmup=1, active=12, repeat=1)) as prof:
        for batch in DataLoader(Slow(15, 0.06), num_workers=2):
            torch.relu(batch.float())
            prof.step()
    (loader,) = stepscope.open(path).analyze("input_wait").tables[1]
    assert (loader["kind"], loader["count"]) == ("multi-process", 12)
    assert 20e6 < loader["total"] / 12 < 80e6
