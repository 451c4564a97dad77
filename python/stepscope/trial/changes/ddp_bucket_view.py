"""Gradients are views of the buckets, so that they are not copied."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at
from stepscope.trial.changes._ddp_arguments import NONE, force, place


def apply(target: Target) -> Undo:
    return force(target, gradient_as_bucket_view=True)


def reason(program: Program) -> str:
    if not program.ddp:
        return NONE
    return "" if any(not one.given.get("gradient_as_bucket_view") for one in program.ddp) else "its gradients are views already"


CHANGE = Change(
    key="ddp_bucket_view",
    name="DDP(gradient_as_bucket_view=True)",
    answers=("N09",),
    apply=apply,
    reason=reason,
    line=lambda program: f"DistributedDataParallel(..., gradient_as_bucket_view=True){at(place(program))}",
    may_differ="nothing",
)
