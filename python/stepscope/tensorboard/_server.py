"""``stepscope serve`` as a child process."""

from __future__ import annotations

import concurrent.futures
import http.client
import signal
import subprocess
import tempfile
import threading
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from stepscope._program import program

MAX_START = 20.0  # seconds a question waits for the server to begin
MAX_ANSWER = 1800.0  # seconds
MAX_END = 1.0  # seconds between the last byte of a process and its end


class Unavailable(Exception):
    """The server cannot answer: one sentence, and what to do."""

    def __init__(self, error: str, remedy: str = "", starts: bool = False) -> None:
        super().__init__(error)
        self.remedy = remedy
        self.starts = starts


class Answer(NamedTuple):
    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes


class _Child:
    """One process. It ends with this one, which holds the other side of its standard input."""

    def __init__(self, command: list[str]) -> None:
        self.over = threading.Event()
        self.reason = ""
        """Why it ended."""
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        self._address: concurrent.futures.Future[urllib.parse.SplitResult] = concurrent.futures.Future()
        threading.Thread(target=self._follow, name="stepscope-serve", daemon=True).start()

    def _follow(self) -> None:
        """From its first line to its end."""
        assert self._process.stdout is not None
        with self._process.stdout as out:
            line = out.readline().strip()
        if line:
            self._address.set_result(urllib.parse.urlsplit(line))
        code = self._process.wait()
        self.reason = self._why(code)
        self.end()
        self._errors.close()
        self.over.set()
        if not line:
            self._address.set_exception(Unavailable(f"stepscope did not start: {self.reason}"))

    def _why(self, code: int) -> str:
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        if code < 0:
            name = signal.Signals(-code).name
            return f"it was ended by {name}" + (", perhaps for lack of memory." if name == "SIGKILL" else ".")
        return said[-1].removeprefix("stepscope: ").rstrip(".") + "." if code > 0 and said else f"it ended with exit code {code}."

    def address(self) -> urllib.parse.SplitResult:
        try:
            return self._address.result(MAX_START)
        except concurrent.futures.TimeoutError:
            raise Unavailable("stepscope still looks for recordings in the log folder.", starts=True) from None

    def has_ended(self) -> bool:
        """False for a moment after its end, too."""
        return self._process.poll() is not None

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()


def _answer_of(child: _Child, method: str, target: str, headers: Mapping[str, str]) -> Answer:
    """Raises Unavailable, and ConnectionRefusedError if the child was not asked."""
    address = child.address()
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=MAX_ANSWER)
    try:
        token = address.fragment.removeprefix("token=")
        connection.request(method, target, headers={**headers, "Authorization": f"Bearer {token}"})
        got = connection.getresponse()
        return Answer(got.status, got.reason, got.getheaders(), got.read())
    except ConnectionRefusedError:
        raise
    except (OSError, http.client.HTTPException) as error:
        if child.over.wait(MAX_END):
            raise Unavailable(f"stepscope ended while it answered: {child.reason}", "Try again: that starts it anew.") from error
        raise Unavailable(f"stepscope did not answer: {error}.", "Try again.") from error
    finally:
        connection.close()


class Server:
    """Started by the first question, and again by the next one after it ended. Thread-safe."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = list(folders)
        self._lock = threading.Lock()
        self._child: _Child | None = None

    def _running(self) -> _Child:
        with self._lock:
            if self._child is None or self._child.has_ended():
                self._child = _Child(self._command())
            return self._child

    def _command(self) -> list[str]:
        if not self._folders:
            raise Unavailable("stepscope reads folders of this machine, and TensorBoard shows none.",
                              "Start TensorBoard with --logdir FOLDER.")
        path = program()
        if path is None:
            raise Unavailable("The program stepscope is not where the package was installed.",
                              "Install the package again: pip install --force-reinstall stepscope")
        return [path, "serve", "--port", "0", "--embed", *self._folders]

    def ask(self, method: str, target: str, headers: Mapping[str, str]) -> Answer:
        """Asks with the token, which nobody else knows. Raises Unavailable."""
        for _ in range(2):  # the first may have ended before it was asked
            child = self._started()
            try:
                return _answer_of(child, method, target, headers)
            except ConnectionRefusedError:
                if not child.over.wait(MAX_END):
                    raise Unavailable("stepscope did not answer: the connection was refused.", "Try again.") from None
        raise Unavailable(f"stepscope ended before it answered: {child.reason}", "Try again: that starts it anew.")

    def _started(self) -> _Child:
        try:
            return self._running()
        except OSError as error:
            raise Unavailable(f"stepscope cannot be started: {error}.") from error

    def close(self) -> None:
        """Ends the child, as the end of this process does."""
        with self._lock:
            if self._child is not None:
                self._child.end()
                self._child.over.wait()
