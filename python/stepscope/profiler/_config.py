"""``_ExperimentalConfig``: which of its options are supported."""

from __future__ import annotations

import warnings
from typing import Any

from stepscope._errors import ProfilerError

class ArgumentError(ProfilerError, TypeError, ValueError):
    """An argument of the wrong type or out of range. torch.profiler raises TypeError or ValueError."""


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
"""Options that are always on: stacks are always read, and all threads always recorded."""
CAPTURED_OVERLOADS = "capture_overload_names"
COLLECTIONS = "record_python_gc_info"


class _ExperimentalConfig:
    """The options of torch.profiler's class of that name. One warning names those that are not supported."""

    def __init__(self, *values: Any, **named: Any) -> None:
        unknown = sorted(named.keys() - DEFAULTS.keys())
        if unknown or len(values) > len(DEFAULTS):
            raise TypeError(f"_ExperimentalConfig has no option {', '.join(unknown) or 'beyond ' + str(len(DEFAULTS))}")
        self.options = {**DEFAULTS, **dict(zip(DEFAULTS, values)), **named}


def check_switches(**switches: Any) -> None:
    """Accepts the same switches as PyTorch: bools, numbers and None. ProfilerError for texts and lists."""
    for name, value in switches.items():
        if value is not None and not hasattr(value, "__bool__"):
            raise ArgumentError(f"{name} must be True or False, not {value!r}")


def check_handler(handler: Any) -> None:
    if handler is not None and not callable(handler):
        raise ArgumentError(
            f"on_trace_ready must be a function that takes the profiler, not {handler!r}; tensorboard_trace_handler(folder) returns one"
        )


def check_observer(observer: Any) -> None:
    if observer is not None and not (callable(getattr(observer, "start", None)) and callable(getattr(observer, "stop", None))):
        raise ArgumentError(f"execution_trace_observer must be an object with start(), stop() and cleanup(), not {observer!r}")


def check_timeout(seconds: Any) -> None:
    if seconds is not None and seconds < 0:
        raise ArgumentError(f"post_processing_timeout_s must be at least 0, not {seconds!r}")


def warn_of_ignored(config: Any) -> None:
    options = getattr(config, "options", None)
    if options is None:
        if config is not None and not type(config).__module__.startswith("torch."):
            raise ArgumentError(f"experimental_config must be an _ExperimentalConfig, not {config!r}")
        options = {name: getattr(config, name) for name in DEFAULTS if hasattr(config, name)}
    ignored = sorted(name for name, value in options.items() if value != DEFAULTS[name] and name not in {*ALWAYS_SO, CAPTURED_OVERLOADS, COLLECTIONS})
    if ignored:
        warnings.warn(f"these options of experimental_config are not supported and have no effect: {', '.join(ignored)}", stacklevel=4)


def asks_for(config: Any, option: str) -> bool:
    options = getattr(config, "options", {})
    return bool(options.get(option) or getattr(config, option, False) or pytorchs_asks_for(config, option))


def pytorchs_asks_for(config: Any, option: str) -> bool:
    """Whether PyTorch's own config object asks for the option, which only its pickled state shows."""
    kind = type(config)
    if not kind.__module__.startswith("torch."):
        return False
    try:
        without, asked, state = (one.__getstate__() for one in (kind(), kind(**{option: True}), config))
    except TypeError:  # before PyTorch had the option
        return False
    return any(state[i] == asked[i] for i in range(len(state)) if without[i] != asked[i])
