"""dft_fn: decorators and blocks with the shapes of DFTracer's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from stepscope._collect import Block, innermost_of
from stepscope.io._log import is_on, log_metadata
from stepscope.io._ranges import loop, ranged

Called = TypeVar("Called", bound=Callable[..., Any])
Item = TypeVar("Item")


class dft_fn(Block):  # noqa: N801 (the name that it replaces)
    """Ranges of the category ``cat``, in whatever recording is running.

        io = dft_fn("data")

        @io.log
        def read(self, image_idx): ...

        with dft_fn("data", name="decode", step=3) as block:
            block.update(args={"bytes": 512})

    ``name`` is for blocks; a function's range has its qualified name. ``epoch``, ``step``, ``image_idx`` and ``image_size`` become args
    of every range, and so does ``cat``. With ``enable=False`` decorators return the function itself, and blocks do nothing.
    """

    def log(self, function: Called | None = None, *, name: str | None = None) -> Any:
        """Decorates a function, a coroutine or a generator. ``@io.log`` or ``@io.log(name="read")``."""
        if function is None:
            return lambda given: self.log(given, name=name)
        if not self.is_enabled:
            return function
        return ranged(self, name or function.__qualname__, self._text, function)

    def log_init(self, function: Called) -> Called:
        """Decorates a constructor. Its arguments count, and attributes that the object has when it begins."""
        return self._method(function)

    def log_static(self, function: Called) -> Called:
        """Decorates a static method, above or below ``@staticmethod``."""
        if isinstance(function, staticmethod):
            return staticmethod(self.log(function.__func__))  # type: ignore[return-value]
        return self.log(function)  # type: ignore[no-any-return]

    def _method(self, function: Called) -> Called:
        if not self.is_enabled:
            return function
        return ranged(self, function.__qualname__, self._text, function, is_method=True)  # type: ignore[no-any-return]

    def iter(self, iterable: Iterable[Item], name: str = "loop", iter_name: str = "step", include_yield: bool = True) -> Iterator[Item]:
        """The items. Each has two ranges: ``NAME.iter`` while it is waited for, ``NAME.yield`` while the body has it.

        The number of the item, from 1, is the arg ``iter_name``.
        """
        return loop(self, iterable, name, iter_name, include_yield)

    def reset(self) -> dft_fn:
        """Forgets what update() added, here and for later blocks."""
        self._values = None
        one = innermost_of(self)
        if one is not None:
            one.tell(self._text)
        return self

    def log_metadata(self, key: str, value: Any) -> None:
        """Writes a value at the top of the recording. Without a recording, nothing happens."""
        if self.is_enabled and is_on():
            log_metadata(key, value)
