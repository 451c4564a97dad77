"""What can be recorded, under torch.profiler's names."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Iterable
from typing import Any


class ProfilerActivity(enum.Enum):
    """A kind of thing to record."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """What can be recorded here."""
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if has_nvidia() else {ProfilerActivity.CPU}


def has_nvidia() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available() and torch.version.cuda)


def wait_for_devices() -> None:
    """Work that still runs would have no recorded end."""
    import torch

    torch.cuda.synchronize()


def chosen(activities: Iterable[Any] | None) -> frozenset[ProfilerActivity]:
    """The activities to record. Members of torch.profiler's enum are matched by name; so are the keys of dicts."""
    if activities is None:
        return frozenset(supported_activities())
    out: set[ProfilerActivity] = set()
    for item in activities:
        for activity in item if isinstance(item, dict) else (item,):
            known = ProfilerActivity.__members__.get(getattr(activity, "name", ""))
            if known is None:
                raise TypeError(f"{activity!r} is no activity; the activities are {', '.join(ProfilerActivity.__members__)}")
            if known in out:
                raise ValueError(f"{known} is named twice among the activities")
            out.add(known)
    beyond = out - {ProfilerActivity.CPU}
    missing = sorted(activity.name for activity in beyond - supported_activities()) if beyond else []
    if missing:
        warnings.warn(
            f"{' and '.join(missing)} events are not recorded here: times are the host's alone; "
            'backend="kineto" records devices',
            stacklevel=4,
        )
    return frozenset(out)
