"""Schedules, steps, and the handler that is called with each trace."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any, List

import pytest
from documented.asking import CPU, exported, named, since, torch, with_option

pytestmark = pytest.mark.filterwarnings("ignore")
since_2_4 = since(2, 4)


def actions(profiler: ModuleType, count: int, **options: int) -> str:
    """First letters of the actions of the first steps; S for RECORD_AND_SAVE."""
    steps = profiler.schedule(**options)
    letters = {"NONE": "N", "WARMUP": "W", "RECORD": "R", "RECORD_AND_SAVE": "S"}
    return "".join(letters[steps(number).name] for number in range(count))


def looped(profiler: ModuleType, count: int, **options: Any) -> Any:
    with profiler.profile(activities=[CPU], **options) as prof:
        for number in range(count):
            with profiler.record_function(f"part {number}"):
                torch.neg(torch.ones(2))
            prof.step()
    return prof


def test_schedule_repeats_without_an_end(profiler: ModuleType) -> None:
    assert actions(profiler, 9, wait=1, warmup=1, active=2) == "NWRSNWRSN"


def test_schedule_with_an_end(profiler: ModuleType) -> None:
    assert actions(profiler, 9, wait=1, warmup=1, active=1, repeat=2) == "NWSNWSNNN"


def test_schedule_skips_first_steps(profiler: ModuleType) -> None:
    assert actions(profiler, 8, wait=1, warmup=1, active=1, skip_first=3) == "NNNNWSNW"


def test_schedule_of_one_active_step(profiler: ModuleType) -> None:
    assert actions(profiler, 3, wait=0, warmup=0, active=1) == "SSS"


@pytest.mark.skipif(
    "skip_first_wait" not in inspect.signature(torch.profiler.schedule).parameters, reason="this PyTorch has no skip_first_wait"
)
def test_schedule_leaves_out_the_first_wait(profiler: ModuleType) -> None:
    told = actions(profiler, 10, wait=3, warmup=1, active=1, skip_first=1, skip_first_wait=1)
    assert told == "NWSNNNWSNN"


def test_actions_are_numbered(profiler: ModuleType) -> None:
    action = profiler.ProfilerAction
    assert [action.NONE.value, action.WARMUP.value, action.RECORD.value, action.RECORD_AND_SAVE.value] == [0, 1, 2, 3]


@since(2, 15)
def test_action_of_a_stopped_device(profiler: ModuleType) -> None:
    assert profiler.ProfilerAction.DEVICE_STOPPED.value == 4


@since(2, 15)
def test_schedule_may_not_say_that_the_device_stopped(profiler: ModuleType) -> None:
    with pytest.raises(ValueError):
        profiler.profile(schedule=lambda step: profiler.ProfilerAction.DEVICE_STOPPED)


def test_handler_is_called_once_per_cycle(profiler: ModuleType) -> None:
    seen: List[int] = []
    steps = profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
    looped(profiler, 10, schedule=steps, on_trace_ready=lambda prof: seen.append(prof.step_num))
    assert seen == [4, 8]


def test_handler_is_called_at_the_end(profiler: ModuleType) -> None:
    seen: List[int] = []
    looped(profiler, 3, on_trace_ready=lambda prof: seen.append(prof.step_num))
    assert seen == [3]


def test_handler_is_called_for_an_unfinished_cycle(profiler: ModuleType) -> None:
    seen: List[int] = []
    steps = profiler.schedule(wait=0, warmup=1, active=3)
    looped(profiler, 2, schedule=steps, on_trace_ready=lambda prof: seen.append(prof.step_num))
    assert seen == [2]


def test_handler_is_not_called_without_an_active_step(profiler: ModuleType) -> None:
    seen: List[int] = []
    steps = profiler.schedule(wait=5, warmup=1, active=1)
    looped(profiler, 3, schedule=steps, on_trace_ready=lambda prof: seen.append(prof.step_num))
    assert seen == []


def test_handler_gets_the_profiler(profiler: ModuleType) -> None:
    seen: List[Any] = []
    prof = looped(profiler, 1, on_trace_ready=seen.append)
    assert seen == [prof]


def test_handler_reads_the_events_of_its_cycle(profiler: ModuleType) -> None:
    seen: List[List[str]] = []
    steps = profiler.schedule(wait=0, warmup=1, active=1, repeat=2)

    def ready(prof: Any) -> None:
        seen.append([event.name for event in prof.events() if event.name.startswith("part")])

    looped(profiler, 4, schedule=steps, on_trace_ready=ready)
    assert seen == [["part 1"], ["part 3"]]


def test_error_in_the_handler_reaches_the_caller(profiler: ModuleType) -> None:
    def ready(prof: Any) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        looped(profiler, 1, on_trace_ready=ready)


def test_error_in_the_block_reaches_the_caller(profiler: ModuleType) -> None:
    with pytest.raises(KeyError), profiler.profile(activities=[CPU]):
        raise KeyError


def test_error_in_the_block_ends_the_recording(profiler: ModuleType) -> None:
    prof = profiler.profile(activities=[CPU])
    with pytest.raises(KeyError), prof:
        torch.neg(torch.ones(2))
        raise KeyError
    assert named(prof.events(), "aten::neg")


def test_error_in_the_block_calls_the_handler(profiler: ModuleType) -> None:
    seen: List[Any] = []
    with pytest.raises(KeyError), profiler.profile(activities=[CPU], on_trace_ready=seen.append):
        raise KeyError
    assert len(seen) == 1


@since_2_4
def test_active_steps_are_ranges(profiler: ModuleType) -> None:
    prof = looped(profiler, 4, schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1))
    steps = [event for event in prof.events() if event.name.startswith("ProfilerStep")]
    assert [(event.name, event.trace_name) for event in steps] == [
        ("ProfilerStep*", "ProfilerStep#2"), ("ProfilerStep*", "ProfilerStep#3")
    ]  # fmt: skip


@since_2_4
def test_steps_in_the_file_are_numbered(profiler: ModuleType, tmp_path: Any) -> None:
    prof = looped(profiler, 4, schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1))
    names = [event["name"] for event in exported(prof, tmp_path)["traceEvents"] if event["name"].startswith("ProfilerStep")]
    assert names == ["ProfilerStep#2", "ProfilerStep#3"]


def test_steps_are_averaged_in_one_row(profiler: ModuleType) -> None:
    prof = looped(profiler, 5, schedule=profiler.schedule(wait=1, warmup=1, active=3, repeat=1))
    assert [row.count for row in prof.key_averages() if row.key.startswith("ProfilerStep")] == [3]


def test_no_ranges_of_steps_without_a_schedule(profiler: ModuleType) -> None:
    assert not any(event.name.startswith("ProfilerStep") for event in looped(profiler, 3).events())


def test_ops_belong_to_their_step(profiler: ModuleType) -> None:
    prof = looped(profiler, 3, schedule=profiler.schedule(wait=0, warmup=1, active=2, repeat=1))
    parents = [event.cpu_parent.name for event in prof.events() if event.name.startswith("part")]
    assert parents == ["ProfilerStep*"] * 2


def test_steps_are_counted(profiler: ModuleType) -> None:
    prof = looped(profiler, 3)
    assert prof.step_num == 3


def test_step_before_the_start(profiler: ModuleType) -> None:
    prof = profiler.profile(activities=[CPU])
    prof.step()
    assert prof.step_num == 1


def test_current_action(profiler: ModuleType) -> None:
    seen: List[str] = []
    steps = profiler.schedule(wait=1, warmup=1, active=1, repeat=1)
    with profiler.profile(activities=[CPU], schedule=steps) as prof:
        for _ in range(4):
            seen.append(prof.current_action.name)
            prof.step()
    assert seen == ["NONE", "WARMUP", "RECORD_AND_SAVE", "NONE"]


def test_events_are_those_of_the_last_cycle(profiler: ModuleType) -> None:
    prof = looped(profiler, 4, schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=2))
    assert [event.name for event in prof.events() if event.name.startswith("part")] == ["part 3"]


@with_option("acc_events")
def test_events_of_all_cycles(profiler: ModuleType) -> None:
    prof = looped(profiler, 4, schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=2), acc_events=True)
    assert sorted(event.name for event in prof.events() if event.name.startswith("part")) == ["part 1", "part 3"]


@with_option("acc_events")
def test_file_is_that_of_the_last_cycle(profiler: ModuleType, tmp_path: Any) -> None:
    prof = looped(profiler, 4, schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=2), acc_events=True)
    names = [event["name"] for event in exported(prof, tmp_path)["traceEvents"] if event["name"].startswith("part")]
    assert names == ["part 3"]
