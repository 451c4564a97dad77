"""``backend="kineto"``, and what takes over where stepscope cannot record: torch.profiler itself, given the arguments that it accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepscope._errors import Error, ProfilerError
from stepscope.profiler._activities import ProfilerActivity
from stepscope.profiler._execution_trace import ExecutionTraceObserver
from stepscope.profiler._observer import begin_to_compile, ready

OWN = ("path", "megabytes", "keep", "memory_history")
"""Arguments that torch.profiler does not have."""

COMPILING = (
    "the observer for PyTorch {} is being compiled in the background, once, in about ten seconds; profilers that are made after that record with "
    'stepscope; to wait for it instead, use backend="stepscope", or run `python -m stepscope.profiler.prepare` before the program'
)


def kineto_profile(name: str, arguments: dict[str, Any]) -> Any:
    """An object of torch.profiler's class of that name; only arguments that were given are passed on."""
    try:
        import torch
        import torch.profiler as kineto

        from stepscope.profiler._replace import original
    except ImportError:
        raise ProfilerError('backend="kineto" needs PyTorch; install torch') from None
    if not torch.autograd.kineto_available():
        raise ProfilerError(f'PyTorch {torch.__version__} was built without Kineto; leave out backend="kineto"')
    given = {key: value for key, value in arguments.items() if value is not None}
    refused = [key for key in OWN if key in given]
    if given.get("with_stack") == "sampled":
        refused.append('with_stack="sampled"')
    if refused:
        raise ProfilerError(f'backend="kineto" does not support {" and ".join(refused)}; remove one or the other')
    if "activities" in given:
        given["activities"] = [theirs(kineto, activity) for activity in given["activities"]]
    if "schedule" in given:
        given["schedule"] = translated(kineto, given["schedule"])
    return original(name)(**given)


def kineto_instead(arguments: dict[str, Any], may_be: bool) -> str:
    """Why ops cannot be recorded now, if torch.profiler may and can record what was asked for; else "". Has a missing observer compiled meanwhile."""
    activities = arguments.get("activities")
    names_cpu = activities is None or (isinstance(activities, (list, tuple, set)) and any(getattr(one, "name", "") == "CPU" for one in activities))
    if not names_cpu:
        return ""
    try:
        import torch

        is_able = may_be and torch.autograd.kineto_available() and not needs_ours(arguments)
        if ready(torch) is not None:
            return ""
        begin_to_compile(torch, soon=not is_able)
        reason = COMPILING.format(torch.__version__)
    except (ImportError, ProfilerError):  # said when the recording starts
        return ""
    except Error as error:
        reason = str(error)
    return reason if is_able else ""


def needs_ours(arguments: dict[str, Any]) -> bool:
    """Whether torch.profiler does not do what was asked for. Without ``keep="newest"``, a long recording would fill the memory."""
    return (
        arguments.get("path") is not None
        or arguments.get("with_stack") == "sampled"
        or arguments.get("keep") == "newest"
        or arguments.get("memory_history") is not None
        or isinstance(arguments.get("execution_trace_observer"), ExecutionTraceObserver)
    )


def theirs(kineto: Any, activity: Any) -> Any:
    return getattr(kineto.ProfilerActivity, activity.name) if isinstance(activity, ProfilerActivity) else activity


def translated(kineto: Any, schedule: Callable[[int], Any]) -> Callable[[int], Any]:
    return lambda step: kineto.ProfilerAction[schedule(step).name]
