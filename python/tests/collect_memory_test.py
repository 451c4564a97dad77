"""Main memory that PyTorch allocates and frees, in recordings."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from collecting import Event, exported

from stepscope import _collect

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
MEMORY = 2


@pytest.fixture(scope="module")
def plugin() -> Path:
    from stepscope._errors import Error
    from stepscope.profiler._observer import observer

    try:
        return observer(torch)
    except Error as error:
        pytest.skip(str(error))


@pytest.fixture
def memory(plugin: Path, tmp_path: Path) -> Callable[..., list[Event]]:
    def record(work: Callable[[], Any], flags: int = MEMORY) -> list[Event]:
        path = tmp_path / "memory.stepscope"
        path.unlink(missing_ok=True)
        _collect.open(path, 16, flags)
        try:
            assert _collect.attach_torch(plugin, False, True) == ""
            _collect.start()
            work()
            _collect.stop()
        finally:
            _collect.detach_torch()
            _collect.close()
        return sorted((e for e in exported(path) if e["name"] == "[memory]"), key=lambda e: e["ts"])

    return record


def told(events: list[Event]) -> list[tuple[int, int]]:
    return [(e["args"]["Bytes"], e["args"]["Total Allocated"]) for e in events]


def test_tensors_by_hand(memory: Callable[..., list[Event]]) -> None:
    def work() -> None:
        a = torch.empty(1000)
        b = torch.empty(10, dtype=torch.float64)
        del a
        torch.empty(0)
        c = torch.empty(3, dtype=torch.uint8)
        del b, c

    events = memory(work)
    assert told(events)[:5] == [(4000, 4000), (80, 4080), (-4000, 80), (3, 83), (-80, 3)]
    assert told(events)[5:] == [(-3, 0)]
    assert [events[i]["args"]["Addr"] for i in (0, 1, 3)] == [events[i]["args"]["Addr"] for i in (2, 4, 5)]
    assert all(e["args"]["Device Type"] == 0 and e["args"]["Device Id"] == -1 for e in events)
    assert all(e["args"]["Total Reserved"] == 0 for e in events)


def test_an_op_holds_what_it_allocates(memory: Callable[..., list[Event]], tmp_path: Path) -> None:
    a = torch.ones(64)
    (event,) = [e for e in memory(lambda: a.__iadd__(a + a)) if e["args"]["Bytes"] > 0]
    (op,) = [e for e in exported(tmp_path / "memory.stepscope") if e["name"] == "aten::add"]
    assert op["ts"] <= event["ts"] <= op["ts"] + op["dur"]
    assert op["tid"] == event["tid"] == threading.get_native_id()


def test_what_was_there_before_is_not_seen(memory: Callable[..., list[Event]]) -> None:
    kept = [torch.empty(100)]
    assert memory(kept.clear) == []


def test_a_later_recording_sees_the_end_of_what_an_earlier_one_saw(memory: Callable[..., list[Event]]) -> None:
    kept: list[Any] = []
    assert told(memory(lambda: kept.append(torch.empty(25)))) == [(100, 100)]
    assert told(memory(kept.clear)) == [(-100, 0)]


def test_freed_on_another_thread(memory: Callable[..., list[Event]]) -> None:
    kept = [torch.empty(1)]
    tids = []

    def work() -> None:
        kept[0] = torch.empty(50)

        def free() -> None:
            tids.append(threading.get_native_id())
            kept.clear()

        thread = threading.Thread(target=free)
        thread.start()
        thread.join()

    events = memory(work)
    assert told(events) == [(200, 200), (-200, 0)]
    assert [e["tid"] for e in events] == [threading.get_native_id(), tids[0]]


def test_many_threads(memory: Callable[..., list[Event]]) -> None:
    threads, rounds = 8, 500

    def churn() -> None:
        kept = []
        for i in range(rounds):
            kept.append(torch.empty(i % 7 + 1))
            if len(kept) > 20:
                kept.pop(0)

    def work() -> None:
        workers = [threading.Thread(target=churn) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    events = memory(work)
    sizes = [e["args"]["Bytes"] for e in events]
    expected = threads * sum(4 * (i % 7 + 1) for i in range(rounds))
    assert sum(s for s in sizes if s > 0) == expected
    assert len(sizes) == 2 * threads * rounds
    assert sum(sizes) == 0
    assert min(e["args"]["Total Allocated"] for e in events) >= 0


def test_storages_that_grow_and_are_shared(memory: Callable[..., list[Event]]) -> None:
    def work() -> None:
        a = torch.empty(10)
        a.resize_(20)
        b = a.view(4, 5)
        del a
        c = b.clone()
        del b, c
        torch.empty(16).share_memory_()

    events = memory(work)
    sizes = [e["args"]["Bytes"] for e in events]
    assert sorted(sizes) == sorted([40, -40, 80, -80, 80, -80, 64, -64])


def test_nothing_unless_asked_for(memory: Callable[..., list[Event]]) -> None:
    assert memory(lambda: torch.empty(10), flags=0) == []


def test_beside_torch_profiler(memory: Callable[..., list[Event]]) -> None:
    """Both see the same bytes; our allocator does not affect PyTorch's profiler."""
    seen: list[int] = []

    def work() -> None:
        with torch.autograd.profiler.profile(profile_memory=True, use_kineto=False) as other:
            a = torch.empty(1000)
            b = torch.empty(24)
            del a
        seen.extend(getattr(e, "cpu_memory_usage", None) or getattr(e, "self_cpu_memory_usage", 0) for e in other.function_events)
        del b

    events = memory(work)
    ours = [e["args"]["Bytes"] for e in events]
    assert [b for b in ours if b in (4000, 96, -4000, -96)] == [4000, 96, -4000, -96]
    assert 4000 in seen
    assert 96 in seen


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_children_that_are_forked_while_others_allocate(memory: Callable[..., list[Event]]) -> None:
    """A child frees tensors of its parent and exits, even if other threads allocated memory during the fork."""
    end = threading.Event()

    def churn() -> None:
        while not end.is_set():
            torch.empty(8)

    def work() -> None:
        kept = [torch.empty(10) for _ in range(100)]
        workers = [threading.Thread(target=churn) for _ in range(3)]
        for worker in workers:
            worker.start()
        for _ in range(50):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                kept.clear()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        end.set()
        for worker in workers:
            worker.join()

    assert memory(work)
