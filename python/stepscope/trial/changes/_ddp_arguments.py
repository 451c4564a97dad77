"""Shared by the changes of DistributedDataParallel: other arguments than the program gives."""

from __future__ import annotations

import inspect
from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Target, Undo, effect, replace

NONE = "the program makes no DistributedDataParallel"


def force(target: Target, **others: Any) -> Undo:
    kind = target.torch.nn.parallel.DistributedDataParallel
    make = kind.__init__
    form = inspect.signature(make)

    def made(self: Any, *args: Any, **named: Any) -> None:
        bound = form.bind(self, *args, **named)
        bound.arguments.update(others)
        effect("DistributedDataParallel(" + ", ".join(f"{key}={value}" for key, value in others.items()) + ")")
        make(*bound.args, **bound.kwargs)

    made.__signature__ = form  # type: ignore[attr-defined]
    return replace(kind, "__init__", made)


def place(program: Program) -> str:
    return program.ddp[0].place if program.ddp else ""
