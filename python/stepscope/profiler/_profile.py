"""``profile``: records the steps that a schedule names and hands each cycle to a callback."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any

from stepscope import _collect
from stepscope.profiler._recording import FLOPS, MEMORY, MODULES, SHAPES, STACKS, Recording
from stepscope.profiler._schedule import ProfilerAction


class profile:  # noqa: N801 (the name that it replaces)
    def __init__(
        self,
        *,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
    ) -> None:
        self._flags = (
            SHAPES * record_shapes | MEMORY * profile_memory | STACKS * with_stack | FLOPS * with_flops | MODULES * with_modules
        )
        self._recording: Recording | None = None

    def __enter__(self) -> profile:
        self._recording = Recording(self._flags)
        self._recording.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        assert self._recording is not None
        self._recording.stop()
        self._recording.close()

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        assert self._recording is not None
        self._recording.export(path)


class record_function:  # noqa: N801
    """A named range: ``with record_function("forward"): …``."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name

    def __enter__(self) -> record_function:
        _collect.range_begin(self.name)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        _collect.range_end()
