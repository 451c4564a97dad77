"""Detects the end of a training step without the program's help."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def watch_optimizers(torch: Any, after: Callable[[Any], None]) -> None:
    """Calls ``after(optimizer)`` after each ``step()`` of every optimizer that is made later."""
    optimizer = torch.optim.Optimizer
    make = optimizer.__init__
    stepping: set[int] = set()  # a step() that calls its base class's step() is one step

    @functools.wraps(make)
    def made(self: Any, *arguments: Any, **named: Any) -> None:
        make(self, *arguments, **named)
        kind = type(self)
        step = kind.step
        if getattr(step, "stepscope", False):
            return

        @functools.wraps(step)
        def watched(self: Any, *arguments: Any, **named: Any) -> Any:
            if id(self) in stepping:
                return step(self, *arguments, **named)
            stepping.add(id(self))
            try:
                result = step(self, *arguments, **named)
            finally:
                stepping.discard(id(self))
            after(self)
            return result

        watched.stepscope = True  # type: ignore[attr-defined]
        kind.step = watched

    optimizer.__init__ = made
