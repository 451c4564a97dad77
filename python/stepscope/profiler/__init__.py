"""Records what a PyTorch program does; replaces ``torch.profiler``.

    from stepscope.profiler import profile, record_function, schedule, tensorboard_trace_handler

    with profile(schedule=schedule(wait=1, warmup=1, active=3), on_trace_ready=tensorboard_trace_handler("traces")) as prof:
        for batch in batches:
            train(batch)
            prof.step()
    print(prof.key_averages().table(sort_by="self_cpu_time_total"))
"""

import os
from typing import Any

from stepscope._errors import ProfilerError
from stepscope.profiler import itt
from stepscope.profiler._activities import ProfilerActivity, supported_activities
from stepscope.profiler._annotations import mark, range_pop, range_push, record_function
from stepscope.profiler._config import _ExperimentalConfig
from stepscope.profiler._cycle import _KinetoProfile
from stepscope.profiler._event_list import EventList
from stepscope.profiler._events import FunctionEvent, FunctionEventAvg
from stepscope.profiler._execution_trace import ExecutionTraceObserver
from stepscope.profiler._handler import tensorboard_trace_handler
from stepscope.profiler._markers import emit_itt, emit_nvtx
from stepscope.profiler._profile import profile
from stepscope.profiler._replace import ASKED, replace_torch_profiler
from stepscope.profiler._schedule import ProfilerAction, schedule

__all__ = [
    "EventList",
    "ExecutionTraceObserver",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerError",
    "_ExperimentalConfig",
    "_KinetoProfile",
    "emit_itt",
    "emit_nvtx",
    "itt",
    "mark",
    "profile",
    "range_pop",
    "range_push",
    "record_function",
    "replace_torch_profiler",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


def kineto_available() -> bool:
    """Whether ``backend="kineto"`` works here."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.autograd.kineto_available())


def __getattr__(name: str) -> Any:
    if name == "DeviceType":
        import torch

        return torch.autograd.DeviceType
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if os.environ.get(ASKED) == "1":
    replace_torch_profiler()
