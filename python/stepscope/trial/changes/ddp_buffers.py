"""Buffers are not broadcast in every forward pass."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at
from stepscope.trial.changes._ddp_arguments import NONE, force, place


def apply(target: Target) -> Undo:
    return force(target, broadcast_buffers=False)


def reason(program: Program) -> str:
    if not program.ddp:
        return NONE
    return "" if any(one.given.get("broadcast_buffers") and one.given.get("buffers") for one in program.ddp) else "no buffers are broadcast"


CHANGE = Change(
    key="ddp_buffers",
    name="DDP(broadcast_buffers=False)",
    answers=("N10",),
    apply=apply,
    reason=reason,
    line=lambda program: f"DistributedDataParallel(..., broadcast_buffers=False){at(place(program))}",
    may_differ="buffers, e.g. a batch norm's running means: each rank keeps its own",
)
