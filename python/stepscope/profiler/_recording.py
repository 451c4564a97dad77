"""One recording: from the file being made, over start and stop, to what is read from it."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

from stepscope import _collect, _core
from stepscope._errors import Error
from stepscope.profiler._observer import observer

SHAPES, MEMORY, STACKS, FLOPS, MODULES = 1, 2, 4, 8, 16
"""What a recording was asked for; the numbers of record/format.h."""


class Recording:
    """Ops, ranges and what else ``flags`` name, of all threads of this process, in a file that survives a kill."""

    def __init__(self, flags: int, path: Path | None = None, megabytes: int = 256) -> None:
        import torch

        self.is_temporary = path is None
        self.path = path or scratch() / f"{socket.gethostname()}_{os.getpid()}.{time.time_ns()}.stepscope"
        self.stopped = False
        plugin = observer(torch)
        _collect.open(self.path, megabytes, flags)
        self._closed = False
        try:
            _collect.attach_torch(plugin, bool(flags & (SHAPES | FLOPS)))
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        _collect.start()

    def stop(self) -> None:
        """Sets a flag: nothing is worked out."""
        _collect.stop()
        self.stopped = True

    def close(self) -> int:
        """The file is left as it is; returns how many records found no room in it."""
        if self._closed:
            return 0
        self._closed = True
        _collect.detach_torch()
        return int(_collect.close())

    def remove(self) -> None:
        """A file that nobody asked for goes."""
        if self.is_temporary:
            self.path.unlink(missing_ok=True)

    def export(self, output: str | os.PathLike[str]) -> list[str]:
        return list(_core.export_recording(os.fsencode(self.path), os.fsencode(output)))


def scratch() -> Path:
    """Where recordings are that were given no path: what a killed program leaves is found there."""
    folder = Path(tempfile.gettempdir()) / f"stepscope-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    if about.st_uid != os.getuid() or folder.is_symlink():
        raise Error(f"{folder} is not yours, so nothing is recorded into it; set TMPDIR to a folder of yours")
    return folder


def metadata(key: str, json_text: str) -> None:
    _collect.metadata(f"{key}={json_text}")


__all__ = ["FLOPS", "MEMORY", "MODULES", "SHAPES", "STACKS", "Recording", "metadata", "scratch"]
