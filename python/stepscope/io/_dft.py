"""dft_fn: decorators and blocks with the shapes of DFTracer's."""

from __future__ import annotations

import os
from asyncio import _get_running_loop as get_running_loop
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, TypeVar

from stepscope._collect import innermost_of
from stepscope.io._log import is_on, log_metadata
from stepscope.io._members import known, members
from stepscope.io._ranges import add, ranged, record_function, text_with

Called = TypeVar("Called", bound=Callable[..., Any])
Item = TypeVar("Item")
SHUT = ("0", "false", "off", "no")


def is_disabled() -> bool:
    """Whether STEPSCOPE_IO or DFTRACER_ENABLE switches annotations off. Without both, they are on."""
    return any(os.environ.get(name, "1").lower() in SHUT for name in ("STEPSCOPE_IO", "DFTRACER_ENABLE"))


class dft_fn:  # noqa: N801 (the name that it replaces)
    """Ranges of the category ``cat``, in whatever recording is running.

        io = dft_fn("data")

        @io.log
        def read(self, image_idx): ...

        with dft_fn("data", name="decode", step=3) as block:
            block.update(args={"bytes": 512})

    ``name`` is for blocks; a function's range has its qualified name. ``epoch``, ``step``, ``image_idx`` and ``image_size`` become args
    of every range, and so does ``cat``. With ``enable=False`` decorators return the function itself, and blocks do nothing.
    """

    __slots__ = ("_cat", "_fixed", "_name", "_text", "_values", "is_enabled")

    def __init__(
        self, cat: str, name: str | None = None, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, enable: bool = True
    ) -> None:
        self._cat = cat
        self._name = name or "block"
        self._fixed = {"cat": cat, **known(epoch, step, image_idx, image_size)}
        self._values: dict[str, Any] = {}
        """Updates outside of any range: args of the later ones."""
        self._text = members(self._fixed)
        self.is_enabled = bool(enable) and not is_disabled()

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
        if not self.is_enabled:
            yield from iterable
            return
        waits, works = f"{name}.iter", f"{name}.yield"
        items = iter(iterable)
        number = 0
        while True:
            number += 1
            text = text_with(self._text, {iter_name: number})
            with record_function(waits).tell(text):
                try:
                    item = next(items)
                except StopIteration:
                    return
            if include_yield:
                with record_function(works).tell(text):
                    yield item
            else:
                yield item

    def __enter__(self) -> dft_fn:
        if self.is_enabled:
            text = text_with(self._text, self._values) if self._values else self._text
            one = record_function(self._name, self, text)
            (one if get_running_loop() is None else one.in_context()).__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        one = innermost_of(self)
        if one is not None:
            one.__exit__(kind, error, where)

    def update(self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, args: Mapping[str, Any] | None = None) -> dft_fn:
        """Adds args to the innermost range that this object has open here; without one, to its later blocks."""
        if not self.is_enabled:
            return self
        values = known(epoch, step, image_idx, image_size)
        if args:
            values.update(args)
        one = innermost_of(self)
        if one is not None:
            add(one, values)
        else:
            self._values.update(values)
        return self

    def flush(self) -> dft_fn:
        """Ends the range of the block that is open here, and begins the next one with the same name."""
        one = innermost_of(self)
        if one is not None:
            text = one.values[0] if one.values else one.told
            one.__exit__(None, None, None)
            one = record_function(self._name, self, text or "")
            (one if get_running_loop() is None else one.in_context()).__enter__()
        return self

    def reset(self) -> dft_fn:
        """Forgets what update() added, here and for later blocks."""
        self._values.clear()
        one = innermost_of(self)
        if one is not None:
            one.values = None
            one.tell(self._text)
        return self

    def log_metadata(self, key: str, value: Any) -> None:
        """Writes a value at the top of the recording. Without a recording, nothing happens."""
        if self.is_enabled and is_on():
            log_metadata(key, value)
