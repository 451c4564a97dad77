"""The outermost module is compiled."""

from __future__ import annotations

from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, effect


def apply(target: Target) -> Undo:
    first = target.calls.first

    def compile_it(module: Any) -> None:
        effect(f"torch.compile({type(module).__name__})")
        module.compile()

    first.append(compile_it)
    return lambda: first.remove(compile_it)


def reason(program: Program) -> str:
    if program.is_compiled:
        return "the model is compiled already"
    if not program.model:
        return "no module with parameters is called"
    if not program.has_cuda and not program.has_compiler:
        return "torch.compile needs a C++ compiler here, and there is none"
    return ""


CHANGE = Change(
    key="compiled",
    name="torch.compile",
    answers=("H01", "H05", "H12", "K01", "G02"),
    apply=apply,
    reason=reason,
    line=lambda program: f"model.compile()   # the {program.model}, before the first step",
    may_differ="rounding, and random numbers such as dropout's",
    watches_calls=True,
    starts_slowly=True,
)
