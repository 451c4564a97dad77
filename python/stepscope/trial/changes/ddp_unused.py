"""DistributedDataParallel does not look for parameters without a gradient."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at
from stepscope.trial.changes._ddp_arguments import NONE, force, place


def apply(target: Target) -> Undo:
    return force(target, find_unused_parameters=False)


def reason(program: Program) -> str:
    if not program.ddp:
        return NONE
    return "" if any(one.given.get("find_unused_parameters") for one in program.ddp) else "it does not look for unused parameters"


CHANGE = Change(
    key="ddp_unused",
    name="DDP(find_unused_parameters=False)",
    answers=(),
    apply=apply,
    reason=reason,
    line=lambda program: f"DistributedDataParallel(..., find_unused_parameters=False){at(place(program))}",
    may_differ="nothing, if every parameter gets a gradient in every step; else PyTorch raises an error",
)
