"""Ranges that a program marks."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from stepscope import _collect
from stepscope._errors import ProfilerError

Function = TypeVar("Function", bound=Callable[..., Any])


record_function = _collect.record_function


def decorated(self: record_function, function: Function) -> Function:
    """The function, with a range around each of its calls."""
    name, args = self.name, self.args
    wrapper: Any
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def wrapper(*given: Any, **named: Any) -> Any:
            with record_function(name, args):
                return await function(*given, **named)

    else:

        @functools.wraps(function)
        def wrapper(*given: Any, **named: Any) -> Any:
            with record_function(name, args):
                return function(*given, **named)

    return wrapper  # type: ignore[no-any-return]


def end_with_future(self: record_function, future: Any) -> Any:
    """Keeps the range open until ``future`` is done. Returns a future with the same value."""
    if self.held:
        raise ProfilerError(f"the range {self.name!r} already waits for a future; it can wait for only one")
    self.hold()

    def done(finished: Any) -> Any:
        self.end()
        return finished.value()

    return future.then(done)


# A Python subclass of the C class would cost as much as the range itself.
record_function.__call__ = decorated  # type: ignore[method-assign]
record_function._call_end_callbacks_on_future = end_with_future  # type: ignore[method-assign]


def range_push(name: str) -> None:
    """Begins a range on the calling thread; range_pop() ends it."""
    _collect.range_begin(name)


def range_pop() -> None:
    """Ends the range that the calling thread pushed last."""
    _collect.range_end()


def mark(name: str) -> None:
    """Marks an instant: a range of no length."""
    with record_function(name):
        pass


@contextlib.contextmanager
def range(name: str, *args: Any, **kwargs: Any) -> Iterator[None]:  # noqa: A001 (the name that it replaces)
    """Marks a block as a range named ``name.format(*args, **kwargs)``."""
    with record_function(name.format(*args, **kwargs) if args or kwargs else name):
        yield
