"""Follows batches through a data loader's queues: ranges, and notes about what is not recorded."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from stepscope import _collect
from stepscope.profiler import _recording

Function = Callable[..., Any]
lacking: list[str] = []
"""Sentences about what is not recorded, for every recording made while a profiler is on."""
in_worker = False
"""Whether this process is a data loader's worker: its notes go to stderr."""


def reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def not_recorded(what: str, why: str) -> None:
    """Reports once what is not recorded: in this recording and later ones or, in a worker, on stderr."""
    if any(sentence.startswith(f"Not recorded: {what} (") for sentence in lacking):
        return
    sentence = f"Not recorded: {what} ({why})."
    lacking.append(sentence)
    if in_worker:
        print(f"stepscope: DataLoader worker, process {os.getpid()}: {sentence}", file=sys.stderr, flush=True)
    else:
        _recording.miss(sentence)


class Noted:
    """A block whose errors do not reach the program; instead, the recording notes that ``what`` is missing."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> bool:
        if not isinstance(error, Exception):
            return False
        not_recorded(self.what, reason(error))
        return True


class Source:
    """A queue that reports each item taken from it."""

    def __init__(self, queue: Any, got: Callable[[Any], None], what: str) -> None:
        self.queue, self.got, self.noted = queue, got, Noted(what)

    def get(self, *args: Any, **named: Any) -> Any:
        task = self.queue.get(*args, **named)
        with self.noted:
            self.got(task)
        return task

    def __getattr__(self, name: str) -> Any:
        return getattr(self.queue, name)


class Sink:
    """A queue that reports when something is put into it."""

    def __init__(self, queue: Any, end: Callable[[], None], what: str) -> None:
        self.queue, self.end, self.noted = queue, end, Noted(what)

    def put(self, *args: Any, **named: Any) -> Any:
        with self.noted:
            self.end()
        return self.queue.put(*args, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.queue, name)


class Ranges:
    """A range from when a task leaves one queue until its result enters the next."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.range: _collect.record_function | None = None

    def begin(self, task: Any = None) -> None:
        """Begins a range; one that is still open is dropped, as its task had no result."""
        self.range = _collect.record_function(self.name)
        self.range.__enter__()

    def end(self) -> None:
        if self.range is not None:
            self.range.__exit__(None, None, None)
            self.range = None


class Collate:
    """A loader's ``collate_fn``; each call is a range."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def __call__(self, *args: Any, **named: Any) -> Any:
        with _collect.record_function("DataLoader.collate"):
            return self.function(*args, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)
