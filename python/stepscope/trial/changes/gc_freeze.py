"""Python's garbage collector leaves alone what was made before the first steps."""

from __future__ import annotations

import gc
from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, effect, replace

STEPS = 3


def apply(target: Target) -> Undo:
    """Freezes after the third call of backward() or, without one, of an outermost module."""
    seen = 0

    def count() -> None:
        nonlocal seen
        seen += 1
        if seen == STEPS:
            gc.collect()
            gc.freeze()
            effect("gc.freeze()")

    autograd = target.torch.autograd
    backward = autograd.backward

    def counted(*args: Any, **named: Any) -> Any:
        count()
        return backward(*args, **named)

    def called(number: int) -> None:
        if target.program.by == "forward":
            count()

    back = replace(autograd, "backward", counted)
    target.calls.after.append(called)

    def undo() -> None:
        back()
        target.calls.after.remove(called)
        if seen >= STEPS:
            gc.unfreeze()

    return undo


def reason(program: Program) -> str:
    return ""


CHANGE = Change(
    key="gc_freeze",
    name="gc.freeze()",
    answers=("H07", "H09", "H24"),
    apply=apply,
    reason=reason,
    line=lambda program: "gc.collect(); gc.freeze()   # after the first steps",
)
