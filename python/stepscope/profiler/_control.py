"""The socket on which a program waits for `stepscope attach`.

Only the same user may connect: the folder has mode 0700, the socket 0600, and the peer's user id is checked. The caller sends one
line of JSON. Each line of the answer begins with a word: "asked" and the current step, "file" and the recording's path, "idle" and
the seconds without a step. The last line is "recording" and its path, "nothing" and the reason, or "error" and a message. The
recording ends when the caller closes the connection or shuts down its sending side.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import socket
import struct
import threading
import time
from pathlib import Path

from stepscope._errors import Error
from stepscope.profiler._outside import Asked, Options, Outside, say
from stepscope.profiler._places import own_file

LONGEST = 65536
"""Maximum bytes of a request."""
LOOK = 0.1
"""Seconds between checks whether the caller is still connected."""
PATIENCE = 5.0
"""Seconds without a step before the caller is notified."""
LEAVE = 5.0
"""Seconds that the program's exit waits for the answer to be sent."""

listening: set[Path] = set()
answering: set[threading.Thread] = set()
"""Threads that wait for the end of a recording."""


def listen(outside: Outside) -> Path:
    """Returns the socket's path. A second call changes nothing while the socket exists."""
    path = own_file("control", ".sock")
    if path in listening and path.exists():
        return path
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    path.chmod(0o600)
    server.listen(16)
    atexit.register(lambda: leave(path, outside))
    threading.Thread(target=serve, args=(server, outside), name="stepscope", daemon=True).start()
    listening.add(path)
    return path


def leave(path: Path, outside: Outside) -> None:
    if os.getpid() != outside.pid:
        return
    path.unlink(missing_ok=True)
    try:
        outside.stop()
    except Exception as error:
        say(f"{error or type(error).__name__}; the end of the recording may be missing")
    for thread in list(answering):
        thread.join(LEAVE)


def serve(server: socket.socket, outside: Outside) -> None:
    while True:
        try:
            caller, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=serve_one, args=(caller, outside), name="stepscope", daemon=True).start()


def serve_one(caller: socket.socket, outside: Outside) -> None:
    try:
        with caller, contextlib.suppress(OSError):  # the caller has gone
            answer(caller, outside)
    finally:
        answering.discard(threading.current_thread())


def answer(caller: socket.socket, outside: Outside) -> None:
    _, uid, _ = struct.unpack("3i", caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if uid != os.getuid():
        return
    try:
        options = request(caller)
        seconds = float(options["seconds"]) if "seconds" in options else math.inf
        if has_gone(caller):
            raise Error("the caller disconnected, so nothing is recorded")
        answering.add(threading.current_thread())
        asked = outside.ask(options)
        ended = True
        try:
            tell(caller, "asked", str(outside.step))
            tell(caller, "file", str(asked.path))
            ended = wait(caller, asked, outside, seconds)
        finally:
            outside.stop(asked)
        if asked.error is not None:
            raise asked.error
        if asked.begun:
            tell(caller, "recording", str(asked.path))
        else:
            tell(caller, "nothing", "ended before a step began" if ended else "began no step before the request ended")
    except Exception as error:
        tell(caller, "error", str(error) or type(error).__name__)


def wait(caller: socket.socket, asked: Asked, outside: Outside, seconds: float) -> bool:
    """False if ``seconds`` passed or the caller left before the recording ended."""
    began = time.monotonic()
    step, is_told = outside.step, not asked.by_steps
    while not asked.over.wait(LOOK):
        passed = time.monotonic() - began
        if passed >= seconds or has_gone(caller):
            return False
        if not is_told and passed >= PATIENCE:
            is_told = True
            if outside.step == step:
                tell(caller, "idle", str(int(passed)))
    return True


def has_gone(caller: socket.socket) -> bool:
    try:
        return not caller.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


def request(caller: socket.socket) -> Options:
    with caller.makefile("rb") as lines:
        line = lines.readline(LONGEST)
    options = json.loads(line)
    if not isinstance(options, dict) or not all(isinstance(value, str) for value in options.values()):
        raise ValueError("the request was not understood; attach with the same version of stepscope")
    return options


def tell(caller: socket.socket, word: str, text: str) -> None:
    caller.sendall(f"{word} {' '.join(text.splitlines())}\n".encode(errors="surrogateescape"))
