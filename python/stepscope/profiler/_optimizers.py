"""Detects the end of a training step without the program's help."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

After = Callable[[Any], None]

stepping: set[int] = set()
"""Ids of optimizers: a step() that calls another step() of the same optimizer is one step."""


def watch_optimizers(torch: Any, after: After) -> None:
    """Calls ``after(optimizer)`` after each ``step()`` of every optimizer that is made later."""
    optimizer = torch.optim.Optimizer
    make = optimizer.__init__

    @functools.wraps(make)
    def made(self: Any, *arguments: Any, **named: Any) -> None:
        make(self, *arguments, **named)
        watch_class(type(self), after)

    optimizer.__init__ = made


def watch_present_optimizers(torch: Any, after: After) -> None:
    """The same for optimizers that exist already.

    A learning rate scheduler gives its optimizer a ``step`` that calls the one of before. It is found when it is called.
    """
    for kind in kinds(torch.optim.Optimizer):
        if "step" in vars(kind):
            watch_class(kind, after)
    register = getattr(sys.modules[torch.optim.Optimizer.__module__], "register_optimizer_step_post_hook", None)
    if register is not None:
        register(lambda optimizer, *_: watch_own_step(optimizer, after))
    elif hasattr(torch.optim.Optimizer, "_optimizer_step_code"):  # until PyTorch 2.0, called at the end of each step
        ended = torch.optim.Optimizer._optimizer_step_code

        def step_ended(optimizer: Any) -> None:
            ended(optimizer)
            watch_own_step(optimizer, after)

        torch.optim.Optimizer._optimizer_step_code = step_ended


def kinds(base: Any) -> Iterator[Any]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def watch_class(kind: Any, after: After) -> None:
    step = kind.step
    if not is_watched(step):
        kind.step = watched(step, after)


def watch_own_step(optimizer: Any, after: After) -> None:
    step = vars(optimizer).get("step")
    if step is None or is_watched(step):
        return
    its = weakref.ref(optimizer)  # no cycle: the program's own end of the optimizer stays its end
    watching = watched(lambda _, *arguments, **named: step(*arguments, **named), after)

    @functools.wraps(step)
    def own(*arguments: Any, **named: Any) -> Any:
        return watching(its(), *arguments, **named)

    own.stepscope = True  # type: ignore[attr-defined]
    optimizer.step = own


def is_watched(step: Any) -> bool:
    return bool(getattr(step, "stepscope", False))


def watched(step: Callable[..., Any], after: After) -> Callable[..., Any]:
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
    return watched
