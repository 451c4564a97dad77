"""Gradients are set to None instead of being filled with zeros."""

from __future__ import annotations

from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at, effect, replace


def apply(target: Target) -> Undo:
    undone = [forced(kind) for kind in (target.torch.optim.Optimizer, target.torch.nn.Module)]

    def undo() -> None:
        for one in undone:
            one()

    return undo


def forced(kind: Any) -> Undo:
    original = kind.zero_grad

    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        if not set_to_none:
            effect("zero_grad(set_to_none=True)")
        original(self, True)

    return replace(kind, "zero_grad", zero_grad)


def reason(program: Program) -> str:
    return "" if program.zeroed else "gradients are set to None already, or no optimizer's zero_grad() fills them"


def line(program: Program) -> str:
    return f"optimizer.zero_grad(set_to_none=True){at(program.zeroed)}"


CHANGE = Change(
    key="zero_grad",
    name="zero_grad(set_to_none=True)",
    answers=("H04",),
    apply=apply,
    reason=reason,
    line=line,
    may_differ="parameters without a gradient in a step: the optimizer skips them, where it applied momentum and weight decay before",
)
