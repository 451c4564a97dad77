"""Handlers of finished cycles."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import Any

from stepscope._errors import ProfilerError


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[Any], None]:
    """Writes each cycle to ``dir_name/WORKER.TIME.pt.trace.json``; WORKER is host and process, TIME in ns since 1970.

    ``use_python_export`` is passed on to ``export_chrome_trace``; stepscope's ignores it.
    """

    dir_name = os.path.abspath(dir_name)  # the program may change its working directory

    options = {"use_python_export": True} if use_python_export else {}

    def handle(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise ProfilerError(f"{dir_name}: {error.strerror}; name a folder that can be created") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        ending = ".pt.trace.json.gz" if use_gzip else ".pt.trace.json"
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}{ending}"), **options)

    return handle
