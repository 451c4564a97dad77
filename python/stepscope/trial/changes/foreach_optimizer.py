"""The optimizer updates many parameters with each operator."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at
from stepscope.trial.changes._optimizer_arguments import first_suited, force, why_not

KINDS = ("Adam", "AdamW", "SGD", "Adagrad", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "Adafactor")


def apply(target: Target) -> Undo:
    return force(target, "foreach", "fused", KINDS)


def reason(program: Program) -> str:
    found = why_not(program, "foreach", KINDS)
    if not found and any(one.given.get("fused") for one in program.optimizers):
        return "its optimizer is fused already"
    return found


def line(program: Program) -> str:
    one = first_suited(program, KINDS)
    return f"torch.optim.{one.kind}(..., foreach=True){at(one.place)}"


CHANGE = Change(
    key="foreach_optimizer",
    name="optimizer(foreach=True)",
    answers=("H03", "H17"),
    apply=apply,
    reason=reason,
    line=line,
    may_differ="rounding",
    group="optimizer",
)
