"""``backend="kineto"``: torch.profiler itself, given the arguments that it accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepscope._errors import ProfilerError
from stepscope.profiler._activities import ProfilerActivity

OWN = ("path", "megabytes")
"""Arguments that torch.profiler does not have."""


def kineto_profile(name: str, arguments: dict[str, Any]) -> Any:
    """An object of torch.profiler's class of that name; only arguments that were given are passed on."""
    try:
        import torch
        import torch.profiler as kineto
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
    return getattr(kineto, name)(**given)


def theirs(kineto: Any, activity: Any) -> Any:
    return getattr(kineto.ProfilerActivity, activity.name) if isinstance(activity, ProfilerActivity) else activity


def translated(kineto: Any, schedule: Callable[[int], Any]) -> Callable[[int], Any]:
    return lambda step: kineto.ProfilerAction[schedule(step).name]
