"""Shared by the changes of optimizers: an argument that chooses how parameters are updated."""

from __future__ import annotations

import inspect
from typing import Any

from stepscope.trial._facts import Made, Program
from stepscope.trial.changes import Target, Undo, effect, replace


def force(target: Target, ours: str, other: str, kinds: tuple[str, ...]) -> Undo:
    """Gives ``ours=True`` and ``other=False`` to optimizers of these classes."""
    undone = []
    for name in kinds:
        kind = getattr(target.torch.optim, name, None)
        if kind is not None and ours in inspect.signature(kind.__init__).parameters:
            undone.append(forced(kind, ours, other))

    def undo() -> None:
        for one in reversed(undone):
            one()

    return undo


def forced(kind: Any, ours: str, other: str) -> Undo:
    make = kind.__init__
    form = inspect.signature(make)

    def made(self: Any, *args: Any, **named: Any) -> None:
        bound = form.bind(self, *args, **named)
        if not bound.arguments.get("differentiable"):
            bound.arguments[ours] = True
            if other in form.parameters:
                bound.arguments[other] = False
            effect(f"{type(self).__name__}({ours}=True)")
        make(*bound.args, **bound.kwargs)

    made.__signature__ = form  # type: ignore[attr-defined]
    return replace(kind, "__init__", made)


def suits(one: Made, kinds: tuple[str, ...]) -> bool:
    return one.kind in kinds and bool(one.given.get("is_float"))


def why_not(program: Program, ours: str, kinds: tuple[str, ...]) -> str:
    if not program.optimizers:
        return "the program makes no optimizer of torch.optim"
    suited = [one for one in program.optimizers if suits(one, kinds)]
    if not suited:
        return f"{program.optimizers[0].kind} has no {ours}=True"
    if all(one.given.get(ours) for one in suited):
        return f"its optimizer is {ours} already"
    if any(one.given.get("differentiable") for one in suited):
        return "its optimizer is differentiable"
    return ""


def first_suited(program: Program, kinds: tuple[str, ...]) -> Made:
    return next((one for one in program.optimizers if suits(one, kinds)), Made("", "Adam", {}))
