"""Operators use one thread: short ones wait longer for other threads than they gain."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, _threads


def apply(target: Target) -> Undo:
    return _threads.force(target, 1)


def reason(program: Program) -> str:
    return "" if program.threads > 1 else "operators use one thread already"


CHANGE = Change(
    key="one_thread",
    name="set_num_threads(1)",
    answers=("H12",),
    apply=apply,
    reason=reason,
    line=lambda program: "torch.set_num_threads(1)",
    may_differ="rounding",
    group="threads",
)
