"""Collections of Python's garbage collector, as calls named ``Python GC`` on the threads that they interrupt."""

from __future__ import annotations

import gc
import threading
from typing import Any

from stepscope import _collect

NAME = "Python GC"
open_ones: dict[int, _collect.record_function] = {}
"""By thread: the collection that runs there."""


def mark(phase: str, info: dict[str, Any]) -> None:
    thread = threading.get_ident()
    if phase == "start":
        open_ones[thread] = _collect.record_function(NAME).as_call()
        open_ones[thread].__enter__()
    elif (collection := open_ones.pop(thread, None)) is not None:
        collection.__exit__(None, None, None)


def record_collections(on: bool) -> None:
    if on and mark not in gc.callbacks:
        gc.callbacks.append(mark)
    elif not on and mark in gc.callbacks:
        gc.callbacks.remove(mark)
        open_ones.clear()
