"""torch.profiler's configuration of activities: which types of events the exported file has."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from stepscope.profiler._config import ArgumentError


@dataclasses.dataclass(frozen=True)
class CuspyConfig:
    """Options of PyTorch's cuspy; accepted, and named in a warning, as stepscope does not use it."""

    enable_cuda_sync_events: bool = False
    enable_environment_counters: bool = False
    enable_graph_dependencies: bool = False
    enable_event_node_ids: bool = False


@dataclasses.dataclass
class PerformanceMetricsConfig:
    """Hardware counters to record; accepted, and named in a warning, as stepscope does not record them."""

    metric_names: list[str]
    sampling_interval_ms: float | None = None
    lookback_window_ms: float | None = None


@dataclasses.dataclass
class ProfilerActivityConfig:
    """The types of an activity's events that the exported file has: all if None, none if empty."""

    activity_types: list[str] | None = None
    profiler_configs: list[Any] = dataclasses.field(default_factory=list)


RUNTIME = {"CUDA_RUNTIME": "cuda_runtime", "CUDA_DRIVER": "cuda_driver"}
CATEGORIES: dict[str, dict[str, str]] = {
    "CPU": {
        **{name: name.lower() for name in ("CPU_OP", "USER_ANNOTATION", "CPU_INSTANT_EVENT", "PYTHON_FUNCTION")},
        **RUNTIME,
        "EXTERNAL_CORRELATION": "",
        "XPU_RUNTIME": "",
        "XPU_DRIVER": "",
        "PRIVATEUSE1_RUNTIME": "",
        "PRIVATEUSE1_DRIVER": "",
    },
    "CUDA": {
        **{name: name.lower() for name in ("GPU_MEMCPY", "GPU_MEMSET", "GPU_USER_ANNOTATION", "CUDA_SYNC", "OVERHEAD")},
        "CONCURRENT_KERNEL": "kernel",
        **RUNTIME,
        "EXTERNAL_CORRELATION": "",
        "CUDA_EVENT": "",
        "CUDA_PROFILER_RANGE": "",
        "COLLECTIVE_COMM": "",
        "GPU_PM_COUNTER": "",
    },
}
"""Per activity, its types of events and their category in the file; "" for those that stepscope does not record."""
ENDS_OF_ARROWS = {"fwdbwd": "cpu_op", "dataloader": "user_annotation", "ac2g": "cuda_runtime"}
"""Per category of arrows, that of the events where they begin."""


def activity_config(activity: str, given: Any) -> Any:
    """A value of the dicts in ``activities``: a configuration, ours or PyTorch's, or names of types. ArgumentError for others."""
    config = given if hasattr(given, "activity_types") else ProfilerActivityConfig(given)
    types = config.activity_types
    if types is not None and not isinstance(types, (list, tuple, set, frozenset)):
        raise ArgumentError(f"the types of {activity} events must be a list of names, not {types!r}")
    known = CATEGORIES.get(activity)
    unknown = [name for name in types or () if known is not None and name not in known]
    if unknown:
        raise ArgumentError(f"{unknown[0]!r} is not a type of {activity} events; the types are {', '.join(known or ())}")
    return config


def warn_of_extensions(configs: Iterable[Any]) -> None:
    ignored = sorted({type(extension).__name__ for config in configs for extension in config.profiler_configs})
    if ignored:
        warnings.warn(f"{' and '.join(ignored)} in activities: not supported, no effect", stacklevel=5)


def left_out(activities: Iterable[str], configs: Mapping[str, Any]) -> frozenset[str]:
    """The categories that the exported file does not have, because types were named and theirs were not."""
    if all(config.activity_types is None for config in configs.values()):
        return frozenset()
    kept: set[str] = set()
    for activity in activities:
        categories = CATEGORIES.get(activity, {})
        types = configs[activity].activity_types if activity in configs else None
        kept.update(categories.values() if types is None else (categories[name] for name in types if name in categories))
    known = {category for categories in CATEGORIES.values() for category in categories.values()}
    return frozenset(known - kept - {""})


def remove_categories(path: str | os.PathLike[str], categories: frozenset[str]) -> None:
    """Writes an exported file again, without some categories of events and the arrows between them."""
    path = os.path.realpath(path)
    opened: Any = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    arrows = {arrow for arrow, end in ENDS_OF_ARROWS.items() if end in categories}
    trace["traceEvents"] = [event for event in trace["traceEvents"] if event.get("cat") not in categories | arrows]
    handle, part = tempfile.mkstemp(dir=os.path.dirname(path), suffix=os.path.basename(path))
    os.close(handle)
    try:
        with opened(part, "wt", encoding="utf-8") as file:
            json.dump(trace, file)
        os.chmod(part, os.stat(path).st_mode)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
