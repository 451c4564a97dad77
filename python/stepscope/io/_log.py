"""The recording that annotations go to."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from stepscope.profiler import _recording
from stepscope.profiler._recording import Recording

log: Logger | None = None
"""Of this process."""


def is_on() -> bool:
    """Whether something records this process."""
    file = _recording.being_made
    return file is not None and file.open and file.pid == os.getpid()


class Logger:
    """What initialize_log() returns. ``path`` is its file; None if the process was recorded already."""

    def __init__(self, recording: Recording | None) -> None:
        self.recording = recording
        self.pid = os.getpid()

    @property
    def path(self) -> Path | None:
        return None if self.recording is None else self.recording.path

    def finalize(self) -> None:
        """Closes the file. A second call does nothing."""
        if self.recording is not None and self.pid == os.getpid() and not self.recording.stopped:
            self.recording.stop()


def initialize_log(logfile: str | os.PathLike[str] | None = None, data_dir: str | None = None, process_id: int = -1) -> Logger:
    """Records annotations from now on, into ``<logfile>-<pid>.stepscope``; stepscope reads it.

    If the process is recorded already, by `stepscope record` or a profiler, annotations go there and no file is made. ``logfile`` None:
    DFTRACER_LOG_FILE, else "trace". ``process_id``: stands in the name instead of the process's own, unless it is negative.
    ``data_dir`` is accepted and not used: `stepscope record --io` records the file I/O itself. Call it again after a fork.
    Raises ProfilerError if the file cannot be made.
    """
    global log
    if log is not None and log.pid == os.getpid() and (is_on() or log.recording is None):
        return log
    if is_on():
        log = Logger(None)
        return log
    name = os.fspath(logfile or os.environ.get("DFTRACER_LOG_FILE") or "trace")
    number = process_id if process_id >= 0 else os.getpid()
    path = Path(f"{name}-{number}.stepscope")
    path.parent.mkdir(parents=True, exist_ok=True)
    recording = Recording(0, path, with_ops=False, gives_way=True)
    recording.start()
    log = Logger(recording)
    return log


def finalize() -> None:
    """Closes the file that initialize_log() made."""
    if log is not None:
        log.finalize()


def get_time() -> int:
    """Microseconds since 1970."""
    import time

    return time.time_ns() // 1000


def log_metadata(key: str, value: Any) -> None:
    from stepscope import _collect

    _collect.metadata(f"{key}={json.dumps(value, default=str)}")
