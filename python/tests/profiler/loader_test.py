"""Data loading in recordings: the work of workers, and when the loop takes which of their batches."""

import json
import os
import signal
import time
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

from loading import Slow, agrees, events_of, export, exported, linked, named  # noqa: E402
from torch.utils.data import DataLoader, IterableDataset, get_worker_info  # noqa: E402

from stepscope.profiler import profile, record_function, schedule  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


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


def seeded(number):
    with record_function(f"init {number}"):
        torch.relu(torch.ones(1))


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
        batch = 20_000  # µs; a worker looks for the recording before each batch, and the cycles are three batches apart
        assert all(first - batch <= e["ts"] and e["ts"] + e["dur"] <= last + batch for e in fetches)
        assert linked(trace)


def test_a_worker_that_is_killed_leaves_what_it_did(tmp_path):
    path = tmp_path / "run.stepscope"
    with pytest.raises(RuntimeError, match="worker"):
        with profile(path=path):
            try:
                for _ in DataLoader(Killed(16), batch_size=1, num_workers=1):
                    pass
            finally:
                time.sleep(0.2)  # a pipe may report the kill before the signal arrives
    (worker,) = tmp_path.glob("run.worker0_*.stepscope")
    assert len(named(events_of(export(worker, tmp_path)), "DataLoader.fetch")) == 6
    assert len(linked(events_of(export(path, tmp_path)))) >= 4


def test_the_main_process_collates(tmp_path):
    with profile() as prof:
        list(DataLoader(Slow(6, 0), batch_size=2))
    events = exported(prof, tmp_path)
    waits = named(events, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
    collates = named(events, "DataLoader.collate")
    assert len(waits) == 4 and len(collates) == 3
    for wait, collate in zip(waits, collates):
        assert wait["ts"] <= collate["ts"] <= collate["ts"] + collate["dur"] <= wait["ts"] + wait["dur"]
