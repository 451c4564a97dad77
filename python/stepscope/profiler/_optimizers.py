"""Where a training step ends, seen from outside the program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def watch_optimizers(torch: Any, after: Callable[[Any], None]) -> None:
    """Calls ``after(optimizer)`` behind each ``step()`` of any optimizer that is made from here on."""
    optimizer = torch.optim.Optimizer
    make = optimizer.__init__
    stepping: set[int] = set()  # a class may call the step() of the one above, which is the same step

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
