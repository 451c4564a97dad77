"""Options and calls that are errors: that they are refused, and with which class of error."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any, Callable, Dict, NamedTuple, Tuple, Type

import pytest
from documented.asking import CPU, VERSION, config, recorded, torch

pytestmark = pytest.mark.filterwarnings("ignore")


def work() -> None:
    torch.neg(torch.ones(2))


def run(profiler: ModuleType, **options: Any) -> Any:
    with profiler.profile(**options) as prof:
        work()
    return prof


def handle(profiler: ModuleType) -> None:
    profiler.tensorboard_trace_handler(os.path.join(__file__, "folder"))(recorded(profiler, work))


def toggle(profiler: ModuleType) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        prof.toggle_collection_dynamic(True, ["cpu"])


def add_metadata(profiler: ModuleType) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        prof.add_metadata("key", 5)


def add_metadata_json(profiler: ModuleType) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        prof.add_metadata_json("key", 5)


def fresh(profiler: ModuleType) -> Any:
    return profiler.profile(activities=[CPU])


def trace_only(profiler: ModuleType) -> Any:
    return recorded(profiler, work, experimental_config=config(trace_only=True))


class Refusal(NamedTuple):
    action: Callable[[ModuleType], Any]
    error: Type[Exception]
    since: Tuple[int, int] = (1, 13)


REFUSALS: Dict[str, Refusal] = {
    "activities: a number": Refusal(lambda p: p.profile(activities=5), TypeError),
    "activities: no list": Refusal(lambda p: p.profile(activities=CPU), TypeError),
    "activities: a text": Refusal(lambda p: p.profile(activities=["cpu"]), TypeError, (2, 12)),
    "activities: None": Refusal(lambda p: p.profile(activities=[None]), TypeError, (2, 12)),
    "activities: twice": Refusal(lambda p: p.profile(activities=[CPU, CPU]), ValueError, (2, 12)),
    "activities: twice, with types": Refusal(lambda p: p.profile(activities=[CPU, {CPU: ["CPU_OP"]}]), ValueError, (2, 12)),
    "activities: an empty list": Refusal(lambda p: p.profile(activities=[]), AssertionError, (2, 4)),
    "activities: an empty dict": Refusal(lambda p: p.profile(activities=[{}]), AssertionError, (2, 12)),
    "activities: an unknown key": Refusal(lambda p: run(p, activities=[{"CPU": []}]), AssertionError, (2, 12)),
    "activities: by position": Refusal(lambda p: p.profile([CPU]), TypeError),
    "activities: unknown type": Refusal(lambda p: run(p, activities=[{CPU: ["OPS"]}]), RuntimeError, (2, 12)),
    "activities: type in small letters": Refusal(lambda p: run(p, activities=[{CPU: ["cpu_op"]}]), RuntimeError, (2, 12)),
    "activities: types are a text": Refusal(lambda p: run(p, activities=[{CPU: "CPU_OP"}]), RuntimeError, (2, 12)),
    "activities: types are a number": Refusal(lambda p: run(p, activities=[{CPU: 5}]), TypeError, (2, 12)),
    "unknown option": Refusal(lambda p: p.profile(record_shape=True), TypeError),
    "use_cuda": Refusal(lambda p: p.profile(use_cuda=True), TypeError, (2, 15)),
    "record_shapes: a text": Refusal(lambda p: run(p, record_shapes="yes"), TypeError),
    "profile_memory: a list": Refusal(lambda p: run(p, profile_memory=[1]), TypeError),
    "experimental_config: a dict": Refusal(lambda p: run(p, experimental_config={"verbose": True}), AttributeError, (2, 15)),
    "post_processing_timeout_s: below 0": Refusal(lambda p: run(p, post_processing_timeout_s=-1.0), ValueError, (2, 11)),
    "schedule: a number": Refusal(lambda p: p.profile(schedule=3), TypeError),
    "on_trace_ready: a text": Refusal(lambda p: run(p, on_trace_ready="folder"), TypeError),
    "execution_trace_observer: a text": Refusal(lambda p: run(p, execution_trace_observer="et.json"), AttributeError, (2, 1)),
    "schedule(): by position": Refusal(lambda p: p.schedule(1, 1, 1), TypeError),
    "schedule(): no active step": Refusal(lambda p: p.schedule(wait=1, warmup=1, active=0), AssertionError),
    "schedule(): wait below 0": Refusal(lambda p: p.schedule(wait=-1, warmup=1, active=1), AssertionError),
    "schedule(): step below 0": Refusal(lambda p: p.schedule(wait=1, warmup=1, active=1)(-1), AssertionError),
    "events() before the start": Refusal(lambda p: fresh(p).events(), AssertionError),
    "key_averages() before the start": Refusal(lambda p: fresh(p).key_averages(), AssertionError),
    "export_chrome_trace() before the start": Refusal(lambda p: fresh(p).export_chrome_trace("never.json"), AssertionError),
    "export_stacks() before the start": Refusal(lambda p: fresh(p).export_stacks("never.txt"), AssertionError),
    "stop() before the start": Refusal(lambda p: fresh(p).stop(), AssertionError),
    "table(): sorted by something unknown": Refusal(
        lambda p: recorded(p, work).key_averages().table(sort_by="cpu_times"), AttributeError
    ),
    "table(): a limit that is a text": Refusal(
        lambda p: recorded(p, work).key_averages().table(max_name_column_width="wide"), TypeError
    ),
    "key_averages(): grouped by a text": Refusal(lambda p: recorded(p, work).key_averages(group_by_stack_n="2"), TypeError),
    "export_stacks(): unknown metric": Refusal(
        lambda p: recorded(p, work, with_stack=True).export_stacks("never.txt", "cpu_time_total"), ValueError
    ),
    "export_stacks(): without stacks": Refusal(lambda p: recorded(p, work).export_stacks("never.txt"), AssertionError, (2, 7)),
    "export_chrome_trace(): a number": Refusal(lambda p: recorded(p, work).export_chrome_trace(5), AttributeError),
    "add_metadata(): a number": Refusal(add_metadata, AttributeError),
    "add_metadata_json(): a number": Refusal(add_metadata_json, TypeError),
    "toggle_collection_dynamic(): a text": Refusal(toggle, TypeError, (2, 7)),
    "tensorboard_trace_handler(): under a file": Refusal(handle, RuntimeError),
    "events() of a trace_only profiler": Refusal(lambda p: trace_only(p).events(), RuntimeError, (2, 15)),
    "key_averages() of a trace_only profiler": Refusal(lambda p: trace_only(p).key_averages(), RuntimeError, (2, 15)),
}


def wanted(case: str) -> Refusal:
    refusal = REFUSALS[case]
    if refusal.since > VERSION:
        pytest.skip(f"needs PyTorch {refusal.since[0]}.{refusal.since[1]}")
    return refusal


@pytest.mark.parametrize("case", REFUSALS)
def test_is_refused(profiler: ModuleType, case: str) -> None:
    refusal = wanted(case)
    with pytest.raises(Exception):  # noqa: B017
        refusal.action(profiler)


@pytest.mark.parametrize("case", REFUSALS)
def test_is_refused_with_this_class(profiler: ModuleType, case: str) -> None:
    refusal = wanted(case)
    with pytest.raises(refusal.error):
        refusal.action(profiler)
