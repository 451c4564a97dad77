"""The folders that TensorBoard shows, and whether recordings lie below them."""

from __future__ import annotations

import gzip
import os
import threading
import time
import zlib
from collections.abc import Iterable
from typing import Any

MIN_PAUSE = 10.0  # seconds between two looks
PAUSE_SHARE = 20  # a look takes at most 1/20 of the time
HEAD = 64 << 10  # bytes
SURE = (".pt.trace.json", ".pt.trace.json.gz", ".stepscope")


def log_folders(context: Any) -> list[str]:
    """The local folders; those of object stores are left out."""
    named = getattr(context.flags, "logdir_spec", "") if context.flags else ""
    given = [context.logdir] if context.logdir else [_without_name(one) for one in named.split(",") if one]
    return [os.path.abspath(os.path.expanduser(folder)) for folder in given if "://" not in folder]


def _without_name(spec: str) -> str:
    """"name:/path" becomes "/path", as TensorBoard reads it."""
    return spec if ":" not in spec or "://" in spec or spec.startswith("/") else spec.partition(":")[2]


def is_recording(path: str) -> bool:
    if path.endswith(SURE):
        return True
    if not path.endswith((".json", ".json.gz")) or not os.path.isfile(path):
        return False
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            return b'"traceEvents"' in file.read(HEAD)
    except (OSError, EOFError, zlib.error):
        return False


def has_recordings(folders: Iterable[str]) -> bool:
    return any(is_recording(os.path.join(where, name))
               for folder in folders for where, _, names in os.walk(folder) for name in names)


class Watch:
    """Looks for recordings on a thread of its own, now and then, until it finds one."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = list(folders)
        self._lock = threading.Lock()
        self._looks = False
        self._next = 0.0
        self._found = False
        self.found()

    def found(self) -> bool:
        """What is known now; never waits."""
        with self._lock:
            if not self._found and not self._looks and time.monotonic() >= self._next:
                self._looks = True
                threading.Thread(target=self._look, name="stepscope-look", daemon=True).start()
            return self._found

    def _look(self) -> None:
        began = time.monotonic()
        found = has_recordings(self._folders)
        ended = time.monotonic()
        with self._lock:
            self._found, self._looks = found, False
            self._next = ended + max(MIN_PAUSE, PAUSE_SHARE * (ended - began))
