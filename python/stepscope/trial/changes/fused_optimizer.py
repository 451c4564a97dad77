"""The optimizer updates all parameters in one kernel."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at
from stepscope.trial.changes._optimizer_arguments import first_suited, force, why_not

KINDS = ("Adam", "AdamW", "SGD", "Adagrad")


def apply(target: Target) -> Undo:
    return force(target, "fused", "foreach", KINDS)


def reason(program: Program) -> str:
    return why_not(program, "fused", KINDS)


def line(program: Program) -> str:
    one = first_suited(program, KINDS)
    return f"torch.optim.{one.kind}(..., fused=True){at(one.place)}"


CHANGE = Change(
    key="fused_optimizer",
    name="optimizer(fused=True)",
    answers=("H03", "H17"),
    apply=apply,
    reason=reason,
    line=line,
    may_differ="rounding",
    group="optimizer",
)
