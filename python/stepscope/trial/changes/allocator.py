"""The CUDA allocator grows its segments instead of freeing and allocating them."""

from __future__ import annotations

import os

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, effect

VARIABLE = "PYTORCH_CUDA_ALLOC_CONF"


def apply(target: Target) -> Undo:
    """Before the first allocation, which reads the variable."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "expandable_segments:True"
    effect(VARIABLE)

    def undo() -> None:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before

    return undo


def reason(program: Program) -> str:
    if not program.has_cuda:
        return "no GPU works"
    return f"{VARIABLE} is set already" if os.environ.get(VARIABLE) else ""


CHANGE = Change(
    key="allocator",
    name=f"{VARIABLE}=expandable_segments:True",
    answers=("A01", "A04"),
    apply=apply,
    reason=reason,
    line=lambda program: f"{VARIABLE}=expandable_segments:True in the environment",
)
