"""Convolutions work on tensors whose channels are last in memory."""

from __future__ import annotations

from typing import Any

from stepscope.trial._calls import Given
from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, effect


def apply(target: Target) -> Undo:
    torch, calls = target.torch, target.calls

    def convert(module: Any) -> None:
        module.to(memory_format=torch.channels_last)
        effect("channels_last")

    def arguments(module: Any, given: Given) -> Given:
        return tuple(last(torch, one) for one in given[0]), {key: last(torch, one) for key, one in given[1].items()}

    calls.first.append(convert)
    calls.arguments.append(arguments)

    def undo() -> None:
        calls.first.remove(convert)
        calls.arguments.remove(arguments)

    return undo


def last(torch: Any, value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.dim() == 4 and value.is_floating_point():
        return value.contiguous(memory_format=torch.channels_last)
    return value


def reason(program: Program) -> str:
    return "" if program.has_conv2d else "the model has no two-dimensional convolution"


CHANGE = Change(
    key="channels_last",
    name="channels_last",
    answers=("C07",),
    apply=apply,
    reason=reason,
    line=lambda program: "model.to(memory_format=torch.channels_last); the same for its input",
    may_differ="rounding",
    watches_calls=True,
)
