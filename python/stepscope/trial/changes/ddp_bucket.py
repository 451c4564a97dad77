"""Gradients are reduced in larger buckets, so in fewer collectives."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at
from stepscope.trial.changes._ddp_arguments import NONE, force, place


def apply(target: Target) -> Undo:
    return force(target, bucket_cap_mb=100)


def reason(program: Program) -> str:
    if not program.ddp:
        return NONE
    return "" if any((one.given.get("bucket_cap_mb") or 25) < 100 for one in program.ddp) else "its buckets are that large already"


CHANGE = Change(
    key="ddp_bucket",
    name="DDP(bucket_cap_mb=100)",
    answers=("N02",),
    apply=apply,
    reason=reason,
    line=lambda program: f"DistributedDataParallel(..., bucket_cap_mb=100){at(place(program))}",
    may_differ="rounding",
)
