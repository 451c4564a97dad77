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


class record_function(_collect.Annotation):  # noqa: N801 (the name that it replaces)
    """A named range: ``with record_function("forward"): …``, or a decorator of functions, async ones too.

    It holds its own begin, so ranges of coroutines that take turns on a thread keep their times. ``args`` is kept on the
    object and not recorded.
    """

    __slots__ = ()

    def __call__(self, function: Function) -> Function:
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

    def _call_end_callbacks_on_future(self, future: Any) -> Any:
        """The range goes on until the future is done. Returns a future that is done then, with the same value."""
        if self.held:
            raise ProfilerError(f"the range {self.name!r} waits for a future already; it can wait for one")
        self.hold()

        def done(finished: Any) -> Any:
            self.end()
            return finished.value()

        return future.then(done)


def range_push(name: str) -> None:
    """A range of the calling thread begins; range_pop() ends it."""
    _collect.range_begin(name)


def range_pop() -> None:
    """The range that range_push() began last on the calling thread ends."""
    _collect.range_end()


def mark(name: str) -> None:
    """An instant, as a range of no length."""
    with _collect.Annotation(name):
        pass


@contextlib.contextmanager
def range(name: str, *args: Any, **kwargs: Any) -> Iterator[None]:  # noqa: A001 (the name that it replaces)
    """A range of the block; ``args`` and ``kwargs`` are put into the name as ``str.format`` does."""
    with _collect.Annotation(name.format(*args, **kwargs) if args or kwargs else name):
        yield
