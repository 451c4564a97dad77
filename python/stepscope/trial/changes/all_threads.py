"""Operators may use all cores."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, _threads


def apply(target: Target) -> Undo:
    return _threads.force(target, target.program.cores or 1)


def reason(program: Program) -> str:
    if program.world > 1:
        return "the ranks share the cores"
    return "" if program.threads < program.cores else "operators use all cores already"


CHANGE = Change(
    key="all_threads",
    name="set_num_threads(all cores)",
    answers=("H10",),
    apply=apply,
    reason=reason,
    line=lambda program: f"torch.set_num_threads({program.cores})",
    may_differ="rounding",
    group="threads",
)
