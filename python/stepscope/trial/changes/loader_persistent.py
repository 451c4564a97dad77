"""Workers live on from one pass over the data to the next."""

from __future__ import annotations

from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at
from stepscope.trial.changes._loaders import change_arguments


def is_restarted(given: dict[str, Any]) -> bool:
    return bool(given.get("num_workers")) and not given.get("persistent_workers")


def apply(target: Target) -> Undo:
    return change_arguments(target.torch, lambda given: {"persistent_workers": True} if is_restarted(given) else {})


def reason(program: Program) -> str:
    if not any(one.given.get("num_workers") for one in program.loaders):
        return "the program's DataLoaders have no workers"
    return "" if any(is_restarted(one.given) for one in program.loaders) else "its workers persist already"


def line(program: Program) -> str:
    place = next((one.place for one in program.loaders if is_restarted(one.given)), "")
    return f"DataLoader(..., persistent_workers=True){at(place)}"


CHANGE = Change(
    key="loader_persistent",
    name="DataLoader(persistent_workers=True)",
    answers=("I03",),
    apply=apply,
    reason=reason,
    line=line,
    may_differ="random numbers from the second pass on: persistent workers take no new seed. What a dataset changes in itself stays changed",
)
