"""Inference builds no graph for a backward pass."""

from __future__ import annotations

import contextlib
from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, effect


def apply(target: Target) -> Undo:
    torch, around = target.torch, target.calls.around

    def infer(module: Any) -> Any:
        if module.training or not torch.is_grad_enabled():
            return contextlib.nullcontext()
        effect("inference_mode()")
        return torch.inference_mode() if target.program.by == "forward" else torch.no_grad()

    around.append(infer)
    return lambda: around.remove(infer)


def reason(program: Program) -> str:
    if not program.builds_graph:
        return "gradients are off already"
    return ""


def line(program: Program) -> str:
    mode = "torch.inference_mode()" if program.by == "forward" else "torch.no_grad()"
    return f"with {mode}:   # around calls of {program.model or 'the model'} in eval mode"


CHANGE = Change(
    key="inference",
    name="inference_mode()",
    answers=("G04",),
    apply=apply,
    reason=reason,
    line=line,
    may_differ="nothing, unless something needs gradients of a model in eval mode: that fails",
    watches_calls=True,
)
