"""Ids of traces, collection that is turned off and on, partial results."""

from __future__ import annotations

import pathlib
import re
from types import ModuleType
from typing import Any, Iterator, List

import pytest
from documented.asking import CPU, config, exported, named, recorded, since, slices, torch, with_option

pytestmark = pytest.mark.filterwarnings("ignore")
with_ids = with_option("custom_trace_id_callback")
with_toggle = pytest.mark.skipif(
    not hasattr(torch.profiler.profile, "toggle_collection_dynamic"), reason="this PyTorch cannot toggle the collection"
)


def work() -> None:
    torch.neg(torch.ones(2))


@with_ids
def test_there_is_no_id_before_the_start(profiler: ModuleType) -> None:
    assert profiler.profile(activities=[CPU]).get_trace_id() is None


@with_ids
def test_id_is_a_random_number(profiler: ModuleType) -> None:
    first, second = (recorded(profiler, work).get_trace_id() for _ in range(2))
    assert re.fullmatch("[0-9A-F]{32}", first) and first != second


@with_ids
def test_id_is_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, work)
    assert exported(prof, tmp_path)["trace_id"] == prof.get_trace_id()


@with_ids
def test_id_of_a_callback(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, work, custom_trace_id_callback=lambda: "run 5")
    assert (prof.get_trace_id(), exported(prof, tmp_path)["trace_id"]) == ("run 5", "run 5")


@with_ids
def test_callback_that_is_set_later(profiler: ModuleType) -> None:
    prof = profiler.profile(activities=[CPU])
    prof.set_custom_trace_id_callback(lambda: "later")
    with prof:
        assert prof.get_trace_id() == "later"


@with_ids
def test_callback_is_called_once_per_cycle(profiler: ModuleType) -> None:
    numbers: Iterator[int] = iter(range(9))
    told: List[Any] = []
    steps = profiler.schedule(wait=0, warmup=1, active=1, repeat=2)
    with profiler.profile(
        activities=[CPU],
        schedule=steps,
        on_trace_ready=lambda prof: told.append(prof.get_trace_id()),
        custom_trace_id_callback=lambda: f"cycle {next(numbers)}",
    ) as prof:
        for _ in range(4):
            prof.step()
    assert told == ["cycle 0", "cycle 1"]


@with_ids
def test_error_of_a_callback_reaches_the_caller(profiler: ModuleType) -> None:
    def broken() -> str:
        raise KeyError

    with pytest.raises(KeyError):
        recorded(profiler, work, custom_trace_id_callback=broken)


def toggled(profiler: ModuleType, **options: Any) -> Any:
    x = torch.ones(2)
    with profiler.profile(activities=[CPU], **options) as prof:
        torch.neg(x)
        prof.toggle_collection_dynamic(False, [CPU])
        torch.abs(x)
        prof.toggle_collection_dynamic(True, [CPU])
        torch.sin(x)
    return prof


@with_toggle
def test_ops_are_left_out_while_collection_is_off(profiler: ModuleType) -> None:
    events = toggled(profiler).events()
    assert [len(named(events, f"aten::{name}")) for name in ("neg", "abs", "sin")] == [1, 0, 1]


@with_toggle
def test_toggled_collection_keeps_shapes(profiler: ModuleType) -> None:
    events = toggled(profiler, record_shapes=True).events()
    assert [event.input_shapes for event in named(events, "aten::sin")] == [[[2]]]


@with_toggle
def test_collection_is_left_off(profiler: ModuleType) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        prof.toggle_collection_dynamic(False, [CPU])
        work()
    assert named(prof.events(), "aten::neg") == []


@with_toggle
def test_collection_is_turned_on_twice(profiler: ModuleType) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        prof.toggle_collection_dynamic(True, [CPU])
        work()
    assert len(named(prof.events(), "aten::neg")) == 1


@with_toggle
def test_toggling_before_the_start_does_nothing(profiler: ModuleType) -> None:
    prof = profiler.profile(activities=[CPU])
    prof.toggle_collection_dynamic(False, [CPU])
    with prof:
        work()
    assert len(named(prof.events(), "aten::neg")) == 1


@with_toggle
def test_toggling_nothing_does_nothing(profiler: ModuleType) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        prof.toggle_collection_dynamic(False, [])
        work()
    assert len(named(prof.events(), "aten::neg")) == 1


@with_option("post_processing_timeout_s")
def test_no_time_to_read_gives_no_events(profiler: ModuleType) -> None:
    assert recorded(profiler, work, post_processing_timeout_s=0.0).events() == []


@with_option("post_processing_timeout_s")
def test_enough_time_to_read_gives_all_events(profiler: ModuleType) -> None:
    assert len(recorded(profiler, work, post_processing_timeout_s=60.0).events()) == 4


@since(2, 15)
def test_trace_only_profiler_writes_its_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, work, experimental_config=config(trace_only=True))
    assert slices(exported(prof, tmp_path), "aten::neg")
