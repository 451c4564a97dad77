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
from stepscope.profiler import _activities, _activity_configs, itt
from stepscope.profiler._activities import supported_activities
from stepscope.profiler._annotations import mark, range_pop, range_push, record_function
from stepscope.profiler._config import _ExperimentalConfig
from stepscope.profiler._cycle import _KinetoProfile
from stepscope.profiler._event_list import EventList
from stepscope.profiler._events import FunctionEvent, FunctionEventAvg
from stepscope.profiler._execution_trace import ExecutionTraceObserver
from stepscope.profiler._handler import tensorboard_trace_handler
from stepscope.profiler._markers import emit_itt, emit_nvtx
from stepscope.profiler._memory_history import MemoryHistory
from stepscope.profiler._profile import profile
from stepscope.profiler._replace import ASKED, replace_torch_profiler
from stepscope.profiler._schedule import ProfilerAction, schedule

__all__ = [
    "CuspyConfig",
    "DeviceType",
    "EventList",
    "ExecutionGraphObserver",
    "ExecutionTraceObserver",
    "FunctionEvent",
    "FunctionEventAvg",
    "PerformanceMetricsConfig",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerActivityConfig",
    "ProfilerError",
    "_ExperimentalConfig",
    "_KinetoProfile",
    "emit_itt",
    "emit_nvtx",
    "itt",
    "kineto_available",
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

ExecutionGraphObserver = ExecutionTraceObserver
"""Its name in PyTorch 1.13."""


def kineto_available() -> bool:
    """Whether ``backend="kineto"`` works here."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.autograd.kineto_available())


_PYTORCHS: dict[str, Any] = {
    "CuspyConfig": _activity_configs.CuspyConfig,
    "DeviceType": _activities.DeviceType,
    "KinetoStepTracker": None,
    "PerformanceMetricsConfig": _activity_configs.PerformanceMetricsConfig,
    "ProfilerActivity": _activities.ProfilerActivity,
    "ProfilerActivityConfig": _activity_configs.ProfilerActivityConfig,
    "RecordScope": None,
}
"""The classes that are PyTorch's, and those that replace them without PyTorch or where it is older."""


def __getattr__(name: str) -> Any:
    if name not in _PYTORCHS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import torch.profiler as kineto
    except ImportError:
        kineto = None
    found = getattr(kineto, name, _PYTORCHS[name])
    if found is None:
        raise AttributeError(f"{name} is PyTorch's, and this PyTorch does not have it or is not installed")
    return found


if os.environ.get(ASKED) == "1":
    replace_torch_profiler()
