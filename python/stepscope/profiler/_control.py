"""The socket on which a program that `stepscope run` started waits for `stepscope attach`.

It is the user's own (a folder of mode 0700, the socket 0600, and the other end must be the same user). One line of JSON comes
in; lines go out that begin with what they say: "asked", and then "recording" and its path, or "error" and a sentence.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import struct
import threading
from pathlib import Path

from stepscope.profiler._outside import Options, Outside
from stepscope.profiler._recording import scratch

LONGEST = 65536
"""Bytes of a request."""


def listen(outside: Outside) -> None:
    path = scratch() / f"control-{os.getpid()}.sock"
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    path.chmod(0o600)
    server.listen(1)
    atexit.register(lambda: remove(path, outside.pid))
    threading.Thread(target=serve, args=(server, outside), name="stepscope", daemon=True).start()


def remove(path: Path, pid: int) -> None:
    if os.getpid() == pid:
        path.unlink(missing_ok=True)


def serve(server: socket.socket, outside: Outside) -> None:
    while True:
        try:
            caller, _ = server.accept()
        except OSError:
            return
        with caller, contextlib.suppress(OSError):
            answer(caller, outside)


def answer(caller: socket.socket, outside: Outside) -> None:
    _, uid, _ = struct.unpack("3i", caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if uid != os.getuid():
        return
    try:
        options = request(caller)
        outside.ask(options)
        tell(caller, "asked", str(outside.step))
        if not outside.over.wait(float(options["seconds"]) if "seconds" in options else None):
            outside.stop()
        if outside.error is not None:
            raise outside.error
        tell(caller, "recording", str(outside.path))
    except Exception as error:
        tell(caller, "error", str(error) or type(error).__name__)


def request(caller: socket.socket) -> Options:
    line = caller.makefile("rb").readline(LONGEST)
    options = json.loads(line)
    if not isinstance(options, dict) or not all(isinstance(value, str) for value in options.values()):
        raise ValueError("the request is not understood; attach with the same version of stepscope")
    return options


def tell(caller: socket.socket, word: str, text: str) -> None:
    caller.sendall(f"{word} {' '.join(text.splitlines())}\n".encode(errors="surrogateescape"))
