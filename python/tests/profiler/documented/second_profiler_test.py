"""A profiler that starts while another one records, and one that is used again."""

from __future__ import annotations

from types import ModuleType
from typing import Any, List

import pytest
from documented.asking import CPU, recorded, since

pytestmark = [pytest.mark.filterwarnings("ignore"), since(2, 15)]


def mark(profiler: ModuleType, name: str) -> None:
    with profiler.record_function(name):
        pass


def names(prof: Any) -> List[str]:
    return [event.name for event in prof.events()]


def test_second_profiler_takes_over(profiler: ModuleType) -> None:
    first, second = (profiler.profile(activities=[CPU]) for _ in range(2))
    first.start()
    try:
        second.start()
        mark(profiler, "second")
        second.stop()
    finally:
        first.stop()
    assert names(second) == ["second"]


def test_profiler_works_after_two_at_once(profiler: ModuleType) -> None:
    with profiler.profile(activities=[CPU]):
        try:
            with profiler.profile(activities=[CPU]):
                pass
        except RuntimeError:
            pass
    assert names(recorded(profiler, lambda: mark(profiler, "later"))) == ["later"]


def test_start_while_recording_begins_anew(profiler: ModuleType) -> None:
    prof = profiler.profile(activities=[CPU])
    prof.start()
    try:
        mark(profiler, "before")
        prof.start()
        mark(profiler, "after")
    finally:
        prof.stop()
    assert names(prof) == ["after"]


def test_stop_may_be_called_again(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: None)
    prof.stop()


def test_profiler_records_again(profiler: ModuleType) -> None:
    prof = profiler.profile(activities=[CPU])
    for name in ("first", "second"):
        with prof:
            mark(profiler, name)
    assert names(prof) == ["second"]


def test_profiler_adds_what_it_records_again(profiler: ModuleType) -> None:
    prof = profiler.profile(activities=[CPU], acc_events=True)
    for name in ("first", "second"):
        with prof:
            mark(profiler, name)
    assert sorted(names(prof)) == ["first", "second"]


def test_events_stay_the_same_list(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: mark(profiler, "mine"))
    assert prof.events() is prof.events()


def test_ranges_reach_the_profiler_of_autograd(profiler: ModuleType) -> None:
    from torch.autograd.profiler import profile as old

    recorded(profiler, lambda: None)
    with old() as prof:
        mark(profiler, "mine")
    assert "mine" in [event.name for event in prof.function_events]
