"""More worker processes load batches."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at
from stepscope.trial.changes._loaders import change_arguments


def workers(program: Program) -> int:
    present = max((int(one.given.get("num_workers") or 0) for one in program.loaders), default=0)
    return min(2 * present, max(program.cores, present))


def apply(target: Target) -> Undo:
    number = workers(target.program)
    return change_arguments(target.torch, lambda given: {"num_workers": number} if 0 < given["num_workers"] < number else {})


def reason(program: Program) -> str:
    present = max((int(one.given.get("num_workers") or 0) for one in program.loaders), default=0)
    if not present:
        return "the program's DataLoaders have no workers"
    if workers(program) <= present:
        return f"there are already {present} workers for {program.cores} cores"
    return ""


def line(program: Program) -> str:
    place = next((one.place for one in program.loaders if one.given.get("num_workers")), "")
    return f"DataLoader(..., num_workers={workers(program)}){at(place)}"


CHANGE = Change(
    key="loader_more_workers",
    name="DataLoader(more workers)",
    answers=("I02",),
    apply=apply,
    reason=reason,
    line=line,
    label=lambda program: f"DataLoader(num_workers={workers(program)})",
    may_differ="random numbers that the dataset draws: each worker has a seed of its own",
    group="workers",
)
