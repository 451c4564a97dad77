"""The activities that can be recorded, under torch.profiler's names."""

from __future__ import annotations

import enum
import sys
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

from stepscope.profiler._activity_configs import activity_config, warn_of_extensions


class ProfilerActivity(enum.Enum):
    """A kind of activity to record. Programs see PyTorch's enumeration of that name instead, if there is PyTorch."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class DeviceType(enum.IntEnum):
    """PyTorch's numbers of the devices that are recorded. Programs see PyTorch's enumeration instead, if there is PyTorch."""

    CPU = 0
    CUDA = 1


def shown(activity: ProfilerActivity) -> Any:
    """PyTorch's member of that name, if PyTorch is imported and has it; else ours."""
    theirs = getattr(sys.modules.get("torch.profiler"), "ProfilerActivity", None)
    return getattr(theirs, activity.name, activity)


def supported_activities() -> set[Any]:
    """The activities that can be recorded on this machine."""
    return {shown(activity) for activity in supported()}


def supported() -> frozenset[ProfilerActivity]:
    return frozenset({ProfilerActivity.CPU, ProfilerActivity.CUDA} if has_nvidia() else {ProfilerActivity.CPU})


def has_nvidia() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available() and torch.version.cuda)


def wait_for_devices() -> None:
    """Waits for running device work, which would otherwise have no recorded end."""
    import torch

    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


class Chosen(NamedTuple):
    """The activities to record, and the configurations that were given for some of them."""

    activities: frozenset[ProfilerActivity]
    configs: dict[ProfilerActivity, Any]


def chosen(activities: Iterable[Any] | None) -> Chosen:
    """The activities to record. Members of torch.profiler's enum are matched by name; so are the keys of dicts."""
    if activities is None:
        return Chosen(supported(), {})
    out: set[ProfilerActivity] = set()
    configs: dict[ProfilerActivity, Any] = {}
    for item in activities:
        for activity in item if isinstance(item, dict) else (item,):
            known = ProfilerActivity.__members__.get(getattr(activity, "name", ""))
            if known is None:
                raise TypeError(f"{activity!r} is not an activity; the activities are {', '.join(ProfilerActivity.__members__)}")
            if known in out:
                raise ValueError(f"{known} occurs twice in activities")
            out.add(known)
            if isinstance(item, dict):
                configs[known] = activity_config(known.name, item[activity])
    beyond = out - {ProfilerActivity.CPU}
    missing = sorted(activity.name for activity in beyond - supported()) if beyond else []
    if missing:
        warnings.warn(
            f"{' and '.join(missing)} events are not recorded here: only host times are; "
            'use backend="kineto" to record devices',
            stacklevel=4,
        )
    warn_of_extensions(configs.values())
    return Chosen(frozenset(out), configs)
