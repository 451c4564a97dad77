"""The activities that can be recorded, under torch.profiler's names."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Iterable
from typing import Any


class ProfilerActivity(enum.Enum):
    """A kind of activity to record."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """The activities that can be recorded on this machine."""
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if has_nvidia() else {ProfilerActivity.CPU}


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


def chosen(activities: Iterable[Any] | None) -> frozenset[ProfilerActivity]:
    """The activities to record. Members of torch.profiler's enum are matched by name; so are the keys of dicts."""
    if activities is None:
        return frozenset(supported_activities())
    out: set[ProfilerActivity] = set()
    for item in activities:
        for activity in item if isinstance(item, dict) else (item,):
            known = ProfilerActivity.__members__.get(getattr(activity, "name", ""))
            if known is None:
                raise TypeError(f"{activity!r} is not an activity; the activities are {', '.join(ProfilerActivity.__members__)}")
            if known in out:
                raise ValueError(f"{known} occurs twice in activities")
            out.add(known)
    beyond = out - {ProfilerActivity.CPU}
    missing = sorted(activity.name for activity in beyond - supported_activities()) if beyond else []
    if missing:
        warnings.warn(
            f"{' and '.join(missing)} events are not recorded here: only host times are; "
            'use backend="kineto" to record devices',
            stacklevel=4,
        )
    return frozenset(out)
