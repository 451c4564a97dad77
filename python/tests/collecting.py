"""Helpers for the tests of recordings: recording without PyTorch, and Python calls as trees."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import stepscope
from stepscope import _collect, _core

CALLS, MODULES, SAMPLES, BUILTINS = 1, 2, 4, 8
"""Flags of ``_collect.python_start``."""

Event = dict[str, Any]
Tree = tuple[Any, ...]
"""A name and the trees below it."""


def exported(path: Path) -> list[Event]:
    output = path.with_suffix(".json")
    _core.export_recording(os.fsencode(path), os.fsencode(output), [])
    return list(json.loads(output.read_bytes())["traceEvents"])


def recorded(folder: Path, work: Callable[[], object], asked: int = CALLS, flags: int = 0, megabytes: int = 16) -> list[Event]:
    """Records ``work`` and returns the events. Fails with the reason if calls cannot be recorded."""
    path = folder / "calls.stepscope"
    path.unlink(missing_ok=True)
    _collect.open(path, megabytes, flags)
    try:
        _collect.start()
        reason = _collect.python_start(asked)
        try:
            assert reason == ""
            work()
        finally:
            _collect.python_stop()
            _collect.stop()
    finally:
        _collect.close()
    return exported(path)


def calls(events: list[Event]) -> list[Event]:
    return [event for event in events if event.get("cat") == "python_function"]


def short(name: str) -> str:
    """``f``, for the name ``tests/a_test.py(3): test_x.<locals>.f``."""
    return name.rpartition(": ")[2].rpartition(".")[2] if "): " in name else name


def trees(events: list[Event], keep: Callable[[Event], bool]) -> list[Tree]:
    """Trees of the kept calls: each is below the innermost kept call around it; siblings are sorted by begin.

    Checks that each call is within its parent, on the same thread.
    """
    of_id = {event["args"]["Python id"]: event for event in calls(events)}
    assert len(of_id) == len(calls(events))
    below: dict[int | None, list[Event]] = {}
    for event in of_id.values():
        parent = event["args"]["Python parent id"]
        if parent is not None:
            outer = of_id[parent]
            assert outer["tid"] == event["tid"]
            assert outer["ts"] <= event["ts"]
            assert outer["ts"] + outer["dur"] >= event["ts"] + event["dur"] - 0.002
        while parent is not None and not keep(of_id[parent]):
            parent = of_id[parent]["args"]["Python parent id"]
        if keep(event):
            below.setdefault(parent, []).append(event)

    def tree(event: Event) -> Tree:
        inner = sorted(below.get(event["args"]["Python id"], []), key=lambda e: (e["ts"], -e["dur"]))
        return (short(event["name"]), *[tree(e) for e in inner])

    return [tree(event) for event in sorted(below.get(None, []), key=lambda e: e["ts"])]


def of_file(file: str) -> Callable[[Event], bool]:
    """A filter that keeps calls of functions in this file."""
    return lambda event: f"{Path(file).name}(" in event["name"]


def tree(folder: Path, work: Any) -> Tree:
    """The call tree of the function ``work``, without functions of other files."""
    (outer,) = trees(recorded(folder, work), of_file(work.__code__.co_filename))
    (inner,) = outer[1:]
    return inner


class Late(Exception):
    """Raised by a signal handler, wherever the program is at that moment."""


def late_at(number: int) -> tuple[Callable[..., Any], list[int]]:
    """A tracer that raises at the ``number``-th call or line of the profiler's own code, and a counter of them."""
    lines = [0]
    folder = os.path.join(os.path.dirname(stepscope.__file__), "profiler")

    def trace(frame: Any, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(folder):
            return None
        if event in ("call", "line"):
            lines[0] += 1
            if lines[0] == number:
                raise Late
        return trace

    return trace, lines
