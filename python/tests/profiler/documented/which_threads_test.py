"""Of which threads ops are recorded."""

from __future__ import annotations

import threading
from types import ModuleType
from typing import Any, Callable, Dict, List, Set

import pytest
from documented.asking import config, exported, of_category, only, recorded, since, torch

pytestmark = pytest.mark.filterwarnings("ignore")


def mark(profiler: ModuleType, name: str) -> None:
    with profiler.record_function(name):
        torch.neg(torch.ones(2))


def in_a_thread(action: Callable[[], Any]) -> None:
    thread = threading.Thread(target=action)
    thread.start()
    thread.join()


def two_threads(profiler: ModuleType, **options: Any) -> Any:
    """One thread begins before the recording, one within it."""
    begun, go = threading.Event(), threading.Event()

    def early() -> None:
        begun.set()
        go.wait()
        mark(profiler, "early")

    thread = threading.Thread(target=early)
    thread.start()
    begun.wait()

    def work() -> None:
        go.set()
        thread.join()
        in_a_thread(lambda: mark(profiler, "late"))
        mark(profiler, "main")

    return recorded(profiler, work, **options)


def names(prof: Any) -> Set[str]:
    return {event.name for event in prof.events() if event.scope == 7}


def threads_of(prof: Any) -> Dict[str, int]:
    return {event.name: event.thread for event in prof.events() if event.scope == 7}


def test_only_the_thread_of_the_profiler(profiler: ModuleType) -> None:
    assert names(two_threads(profiler)) == {"main"}


def test_only_ops_of_the_thread_of_the_profiler(profiler: ModuleType) -> None:
    prof = two_threads(profiler)
    assert sum(event.name == "aten::neg" for event in prof.events()) == 1


@since(2, 4)
def test_all_threads(profiler: ModuleType) -> None:
    asked = config(profile_all_threads=True)
    assert names(two_threads(profiler, experimental_config=asked)) == {"main", "early", "late"}


@since(2, 4)
def test_each_thread_has_a_number(profiler: ModuleType) -> None:
    asked = config(profile_all_threads=True)
    assert len(set(threads_of(two_threads(profiler, experimental_config=asked)).values())) == 3


@since(2, 4)
def test_all_threads_are_in_the_file(profiler: ModuleType, tmp_path: Any) -> None:
    prof = two_threads(profiler, experimental_config=config(profile_all_threads=True))
    ranges = of_category(exported(prof, tmp_path), "user_annotation")
    assert {event["name"] for event in ranges} == {"main", "early", "late"}
    assert len({event["tid"] for event in ranges}) == 3


def test_gradients_of_another_thread_count_for_the_profiler(profiler: ModuleType) -> None:
    def work() -> None:
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()

    assert only(recorded(profiler, work).events(), "MulBackward0").scope == 1


def test_gradient_has_the_number_of_the_thread_of_its_op(profiler: ModuleType) -> None:
    def work() -> None:
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()

    events = recorded(profiler, work).events()
    forward = next(event for event in events if event.name == "aten::mul")
    assert only(events, "MulBackward0").fwd_thread == forward.thread


def test_profiler_of_another_thread(profiler: ModuleType) -> None:
    seen: List[Set[str]] = []
    in_a_thread(lambda: seen.append(names(recorded(profiler, lambda: mark(profiler, "inside")))))
    assert seen == [{"inside"}]


def inside() -> None:
    pass


def test_python_calls_of_the_thread_are_in_the_file(profiler: ModuleType, tmp_path: Any) -> None:
    trace = exported(recorded(profiler, inside, with_stack=True), tmp_path)
    calls = [event for event in of_category(trace, "python_function") if event["name"].endswith(": inside")]
    assert [event["tid"] for event in calls] == [threading.get_native_id()]
