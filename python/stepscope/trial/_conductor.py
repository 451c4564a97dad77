"""Starts copies of the program and gives them turns. While one copy has the turn, the processes of all others are stopped."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepscope.trial import _processes
from stepscope.trial._view import (
    View,
    copy_environment,
    free_port,
    site_environment,
    with_port,
)

TICK_S = 0.05
GONE_S = 5.0
"""From the end of the process that makes the steps to that of the program, e.g. of a launcher."""
LAST_LINES = 3


class Failed(Exception):
    """A copy cannot go on; the text says why."""


class Ended(Exception):
    """A copy's program is over, with exit code 0."""


@dataclass
class Block:
    """What a copy reports at the end of its turn."""

    step: int
    """The last step of the block."""
    times: list[int]
    """Nanoseconds of its steps."""
    losses: dict[int, float]
    told: dict[str, Any] = field(default_factory=dict)


class Conductor:
    """The socket that copies report to, and the copies that run."""

    def __init__(self, words: list[str], scratch: Path) -> None:
        self.words = words
        self.scratch = scratch
        self.path = str(scratch / "turns")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(64)
        self.view = View(scratch)
        self.copies: dict[str, Copy] = {}
        self.number = 0
        _processes.adopt_orphans()

    def base(self, record: Path, to_stderr: bool) -> Copy:
        """The program itself. It keeps the terminal, so that Ctrl-C reaches it."""
        environment = site_environment()
        environment[_processes.MARK] = "base"
        environment["STEPSCOPE_TRIAL"] = json.dumps({**self.shared(), "copy": "base", "record": str(record)})
        copy = Copy(self, "base", self.words, environment, stdout=2 if to_stderr else None)
        self.copies["base"] = copy
        return copy

    def shared(self) -> dict[str, Any]:
        return {"socket": self.path, "conductor": os.getpid()}

    def start(self, kind: str, told: dict[str, Any]) -> Copy:
        """A copy that is thrown away."""
        self.number += 1
        name = f"{kind}-{self.number}"
        temporary = self.view.place(f"{name}/tmp")
        port = free_port()
        environment = copy_environment(name, temporary, port)
        environment["STEPSCOPE_TRIAL"] = json.dumps({**self.shared(), "copy": name, "port": port, **told})
        with open(self.scratch / f"{name}.out", "wb") as output:
            command = self.view.command(with_port(self.words, port), name)
            copy = Copy(self, name, command, environment, stdout=output.fileno(), is_apart=True)
        self.copies[name] = copy
        return copy

    def accept(self) -> None:
        """Takes a new connection, and waits for its first line."""
        channel, _ = self.listener.accept()
        channel.settimeout(5)
        lines = channel.makefile("rb")
        try:
            told = json.loads(lines.readline() or b"{}")
        except (OSError, ValueError):
            told = {}
        copy = self.copies.get(str(told.get("hello")))
        if copy is not None and "rank" in told:
            copy.other_ranks.append(channel)
            return
        if copy is None or copy.channel is not None:  # not the first process of its copy
            with contextlib.suppress(OSError):
                channel.sendall(b'{"go": 0}\n')
            channel.close()
            return
        channel.settimeout(None)
        copy.channel, copy.lines, copy.hello = channel, lines, told

    def close(self) -> None:
        for copy in list(self.copies.values()):
            if copy.name != "base":
                copy.end()
        self.listener.close()


class Copy:
    """One run of the program."""

    def __init__(
        self, conductor: Conductor, name: str, command: list[str], environment: dict[str, str], stdout: int | None, is_apart: bool = False
    ) -> None:
        self.conductor = conductor
        self.name = name
        self.channel: socket.socket | None = None
        self.lines: Any = None
        self.hello: dict[str, Any] = {}
        self.is_stopped = False
        self.stepped = 0
        self.other_ranks: list[socket.socket] = []
        """They wait where rank 0 does."""
        apart = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "start_new_session": True} if is_apart else {}
        self.process = subprocess.Popen(command, env=environment, stdout=stdout, **apart)  # type: ignore[call-overload]
        _processes.copies.add(self.process.pid)
        self.started = time.monotonic()

    def await_hello(self, limit_s: float | None) -> None:
        """Waits for the first step."""
        self.attend("hello", limit_s, "no step")

    def attend(self, what: str, limit_s: float | None, made: str) -> None:
        """Waits for this copy's first line, or for its next; accepts other connections meanwhile."""
        begun = time.monotonic()
        closed_since = 0.0
        while True:
            if what == "hello" and self.channel is not None:
                return
            state = self.pending()
            if state == "line":
                return
            now, code = time.monotonic(), self.process.poll()
            if code is not None:
                self.drain()
                if (what == "hello" and self.channel is not None) or self.pending() == "line":
                    return
                self.over(code)
            if state == "closed":
                closed_since = closed_since or now
                if now - closed_since > GONE_S:
                    raise Ended(f"the process that makes the steps ended after {self.stepped} steps")
            if limit_s is not None and now - begun > limit_s:
                raise Failed(f"it made {made} in {limit_s:.0f} s, and was ended")
            heard: list[socket.socket] = [self.conductor.listener]
            if self.channel is not None and state != "closed":
                heard.append(self.channel)
            if self.conductor.listener in select.select(heard, [], [], TICK_S)[0]:
                self.conductor.accept()

    def pending(self) -> str:
        """Of its channel: line, closed, or "" if there is nothing yet."""
        if self.channel is None:
            return ""
        try:
            return "line" if self.channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) else "closed"
        except BlockingIOError:
            return ""
        except OSError:
            return "closed"

    def drain(self) -> None:
        while select.select([self.conductor.listener], [], [], 0)[0]:
            self.conductor.accept()

    def over(self, code: int) -> None:
        if code == 0:
            raise Ended(f"the program ended after {self.stepped} steps")
        raise Failed(f"{died(code)}{self.last_words()}")

    def last_words(self) -> str:
        path = self.conductor.scratch / f"{self.name}.out"
        if not path.exists():
            return ""
        lines = [line.strip() for line in path.read_text(errors="replace")[-8000:].splitlines() if line.strip()]
        return ": " + " | ".join(telling(lines)) if lines else ""

    def turn(self, steps: int, limit_s: float | None) -> Block:
        """Lets this copy make so many steps, then stops it."""
        self.proceed()
        self.tell({"go": steps})
        block = self.await_block(limit_s)
        self.await_other_ranks(int(block.told.get("program", {}).get("world", 1)) - 1)
        self.stop()
        return block

    def await_other_ranks(self, number: int) -> None:
        until = time.monotonic() + GONE_S
        while len(self.other_ranks) < number and time.monotonic() < until:
            if select.select([self.conductor.listener], [], [], TICK_S)[0]:
                self.conductor.accept()

    def await_block(self, limit_s: float | None) -> Block:
        self.attend("block", limit_s, "too few steps")
        try:
            told = json.loads(self.lines.readline())
        except (OSError, ValueError) as error:
            raise Failed("it left the trial" + self.last_words()) from error
        self.stepped = int(told["step"])
        return Block(self.stepped, told.pop("times"), {int(step): loss for step, loss in told.pop("losses")}, told)

    def tell(self, what: dict[str, Any]) -> None:
        if self.channel is not None:
            with contextlib.suppress(OSError):
                self.channel.sendall(json.dumps(what).encode() + b"\n")

    def stop(self) -> None:
        if not self.is_stopped:
            _processes.stop(self.process.pid, self.name)
            self.is_stopped = True

    def proceed(self) -> None:
        if self.is_stopped:
            _processes.proceed(self.process.pid, self.name)
            self.is_stopped = False

    def memory(self) -> int:
        return _processes.memory(_processes.tree(self.process.pid, self.name))

    def let_go(self) -> None:
        """The copy goes on alone."""
        self.proceed()
        for channel in self.other_ranks:
            channel.close()
        self.tell({"go": 0})
        if self.channel is not None:
            self.lines.close()
            self.channel.close()

    def end(self) -> None:
        """Ends all its processes."""
        _processes.kill(self.process.pid, self.name)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        if self.channel is not None:
            self.lines.close()
            self.channel.close()
        self.conductor.copies.pop(self.name, None)


def died(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            hint = ", which also comes when memory is out" if -code == signal.SIGKILL else ""
            return f"ended by {signal.Signals(-code).name}{hint}"
    return f"exit code {code}"


def telling(lines: list[str]) -> list[str]:
    """The lines that say why: the last error, else the last lines."""
    errors = [line for line in lines if "Error" in line or "error:" in line]
    return [one[:300] for one in (errors[-1:] or lines[-LAST_LINES:])]


def as_shell(code: int) -> int:
    """An exit code as shells give it."""
    return 128 - code if code < 0 else code


def forward_signals(copy: Copy) -> None:
    """SIGTERM and SIGHUP go to the program and end the trials, as Ctrl-C does, which reaches the program by itself."""

    def forward(number: int, frame: Any) -> None:
        copy.proceed()
        with contextlib.suppress(ProcessLookupError):
            os.kill(copy.process.pid, number)
        raise KeyboardInterrupt

    for one in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, forward)
