"""The changes that can be tried from outside, each in a file of its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stepscope.trial._calls import Calls
from stepscope.trial._facts import Program

effects: list[str] = []
"""What changes did in this process. A change that did nothing was not tried."""
Undo = Callable[[], None]


@dataclass
class Target:
    """A process in which a change is applied, right after PyTorch was imported."""

    torch: Any
    calls: Calls
    told: dict[str, Any] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        return Program.from_told(self.told)


@dataclass(frozen=True)
class Change:
    key: str
    """The file's name."""
    name: str
    """As people write it: DataLoader(num_workers=2)."""
    answers: tuple[str, ...]
    """The rules whose findings it may mend."""
    apply: Callable[[Target], Undo]
    reason: Callable[[Program], str]
    """Why it must not be tried or would change nothing; "" if it can be."""
    line: Callable[[Program], str]
    """What to write, and where."""
    label: Callable[[Program], str] | None = None
    """Its name for one program."""
    may_differ: str = "nothing"
    """What may legitimately differ."""
    tolerance: float = 1e-3
    """Of the mean loss: a larger difference is reported."""
    watches_calls: bool = False
    """Whether it acts on the calls of the outermost module."""
    group: str = ""
    """Of the changes of one group, only the best goes into the combination."""
    starts_slowly: bool = False
    """The first steps may take minutes."""


KEYS = (
    "loader_workers", "loader_more_workers", "loader_persistent", "loader_prefetch", "pinned",
    "zero_grad", "fused_optimizer", "foreach_optimizer",
    "cudnn_benchmark", "tf32", "autocast", "compiled", "channels_last",
    "all_threads", "one_thread", "gc_freeze", "anomaly_off", "inference",
    "ddp_bucket", "ddp_bucket_view", "ddp_unused", "ddp_buffers", "allocator",
)  # fmt: skip


def named(key: str) -> Change:
    found: Change = importlib.import_module(f"stepscope.trial.changes.{key}").CHANGE
    return found


def all_changes() -> list[Change]:
    return [named(key) for key in KEYS]


def replace(owner: Any, name: str, ours: Any) -> Undo:
    """Puts ``ours`` in the place of an attribute; the function returned puts the original back."""
    original = owner.__dict__.get(name, None)
    is_own = name in vars(owner)
    setattr(owner, name, ours)

    def undo() -> None:
        if is_own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)

    return undo


def effect(what: str) -> None:
    if len(effects) < 100 and what not in effects:
        effects.append(what)


def at(place: str) -> str:
    return f"   # {place}" if place else ""
