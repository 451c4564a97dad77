"""What follows batches through a data loader's queues: ranges, and notes of what is not recorded."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from stepscope import _collect
from stepscope.profiler import _recording

Function = Callable[..., Any]
lacking: list[str] = []
"""Sentences for every recording that is made while a profiler is on: what it lacks."""
in_worker = False
"""Whether this process is a data loader's worker: its notes go to stderr."""


def reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def not_recorded(what: str, why: str) -> None:
    """Says once what is not recorded: in the recording and those that follow, or, in a worker, on stderr."""
    if any(sentence.startswith(f"Not recorded: {what} (") for sentence in lacking):
        return
    sentence = f"Not recorded: {what} ({why})."
    lacking.append(sentence)
    if in_worker:
        print(f"stepscope: DataLoader worker, process {os.getpid()}: {sentence}", file=sys.stderr, flush=True)
    else:
        _recording.miss(sentence)


class Noted:
    """A block whose errors do not reach the program: the recording says that it lacks ``what``."""

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
    """A queue that reports what is taken from it."""

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
    """A range from a task's leaving one queue to its result's entering the next."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.range: _collect.record_function | None = None

    def begin(self, task: Any = None) -> None:
        """A range that is still open is dropped: its task gave no result."""
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
