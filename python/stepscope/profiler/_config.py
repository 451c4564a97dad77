"""``_ExperimentalConfig``: what of it makes sense here."""

from __future__ import annotations

import warnings
from typing import Any

DEFAULTS: dict[str, Any] = {
    "profiler_metrics": [],
    "profiler_measure_per_kernel": False,
    "verbose": False,
    "performance_events": [],
    "enable_cuda_sync_events": False,
    "adjust_profiler_step": False,
    "disable_external_correlation": False,
    "profile_all_threads": False,
    "capture_overload_names": False,
    "record_python_gc_info": False,
    "expose_kineto_event_metadata": False,
    "custom_profiler_config": "",
    "adjust_timestamps": False,
    "trace_only": False,
}
ALWAYS_SO = {"verbose", "profile_all_threads"}
"""Stacks are always read back, and all threads always recorded."""


class _ExperimentalConfig:
    """The options of torch.profiler's class of that name; those that are not supported are named in one warning."""

    def __init__(self, *values: Any, **named: Any) -> None:
        unknown = sorted(named.keys() - DEFAULTS.keys())
        if unknown or len(values) > len(DEFAULTS):
            raise TypeError(f"_ExperimentalConfig has no option {', '.join(unknown) or 'beyond ' + str(len(DEFAULTS))}")
        self.options = {**DEFAULTS, **dict(zip(DEFAULTS, values)), **named}


def warn_of_ignored(config: Any) -> None:
    options = getattr(config, "options", None)
    if options is None:
        options = {name: getattr(config, name) for name in DEFAULTS if hasattr(config, name)}
    ignored = sorted(name for name, value in options.items() if value != DEFAULTS[name] and name not in ALWAYS_SO)
    if ignored:
        warnings.warn(f"these options of experimental_config are not supported and change nothing: {', '.join(ignored)}", stacklevel=4)
