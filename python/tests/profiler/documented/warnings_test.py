"""Options and calls that warn."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any, Callable, List, Type

import pytest
from documented.asking import CPU, config, since, torch, with_option


def warned(action: Callable[[], Any]) -> List[Type[Warning]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [warning.category for warning in caught]


def record(profiler: ModuleType, **options: Any) -> Any:
    with profiler.profile(activities=[CPU], **options) as prof:
        torch.neg(torch.ones(2))
    return prof


def test_plain_profiler_warns_of_nothing(profiler: ModuleType) -> None:
    assert warned(lambda: record(profiler).events()) == []


def test_schedule_without_warmup(profiler: ModuleType) -> None:
    assert warned(lambda: profiler.schedule(wait=1, warmup=0, active=1)) == [UserWarning]


@since(2, 15)
def test_with_modules_is_deprecated(profiler: ModuleType) -> None:
    assert FutureWarning in warned(lambda: record(profiler, with_modules=True))


@since(2, 15)
def test_adjust_profiler_step_is_deprecated(profiler: ModuleType) -> None:
    asked = config(adjust_profiler_step=True)
    assert FutureWarning in warned(lambda: record(profiler, experimental_config=asked))


@since(2, 15)
def test_trace_only_with_stacks_gives_events_and_warns(profiler: ModuleType) -> None:
    asked = config(trace_only=True)
    caught = warned(lambda: record(profiler, with_stack=True, experimental_config=asked).events())
    assert UserWarning in caught


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_without_a_gpu(profiler: ModuleType) -> None:
    both = [CPU, torch.profiler.ProfilerActivity.CUDA]

    def work() -> None:
        with profiler.profile(activities=both):
            pass

    assert UserWarning in warned(work)


def warmup_then_nothing(step: int) -> Any:
    return torch.profiler.ProfilerAction.WARMUP if step == 0 else torch.profiler.ProfilerAction.NONE


def record_then_nothing(step: int) -> Any:
    return torch.profiler.ProfilerAction.RECORD if step == 0 else torch.profiler.ProfilerAction.NONE


def record_then_warmup(step: int) -> Any:
    return torch.profiler.ProfilerAction.RECORD if step == 0 else torch.profiler.ProfilerAction.WARMUP


@pytest.mark.parametrize("steps", [warmup_then_nothing, record_then_nothing, record_then_warmup])
def test_schedule_that_forgets_to_save(profiler: ModuleType, steps: Callable[[int], Any]) -> None:
    def work() -> None:
        with profiler.profile(activities=[CPU], schedule=steps) as prof:
            prof.step()

    assert UserWarning in warned(work)


@with_option("acc_events")
def test_deprecated_times_of_events_warn(profiler: ModuleType) -> None:
    event = record(profiler).events()[0]
    assert warned(lambda: event.cuda_time_total) == [FutureWarning]


@pytest.mark.skipif(not hasattr(torch.profiler.profile, "export_memory_timeline"), reason="this PyTorch has no timeline")
@since(2, 11)
def test_memory_timeline_is_deprecated(profiler: ModuleType, tmp_path: Any) -> None:
    prof = record(profiler, record_shapes=True, profile_memory=True, with_stack=True)
    assert FutureWarning in warned(lambda: prof.export_memory_timeline(str(tmp_path / "memory.json"), "cpu"))
