"""Workers prepare more batches in advance."""

from __future__ import annotations

from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at
from stepscope.trial.changes._loaders import change_arguments

BATCHES = 8


def is_short(given: dict[str, Any]) -> bool:
    return bool(given.get("num_workers")) and (given.get("prefetch_factor") or 2) < BATCHES


def apply(target: Target) -> Undo:
    return change_arguments(target.torch, lambda given: {"prefetch_factor": BATCHES} if is_short(given) else {})


def reason(program: Program) -> str:
    if not any(one.given.get("num_workers") for one in program.loaders):
        return "the program's DataLoaders have no workers"
    return "" if any(is_short(one.given) for one in program.loaders) else f"its workers prepare {BATCHES} batches or more"


def line(program: Program) -> str:
    place = next((one.place for one in program.loaders if is_short(one.given)), "")
    return f"DataLoader(..., prefetch_factor={BATCHES}){at(place)}"


CHANGE = Change(
    key="loader_prefetch",
    name=f"DataLoader(prefetch_factor={BATCHES})",
    answers=("I04", "I02"),
    apply=apply,
    reason=reason,
    line=line,
)
