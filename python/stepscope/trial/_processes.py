"""A copy's processes: which they are, stopping and continuing them, and their memory."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from pathlib import Path

PROC = Path("/proc")
MARK = "STEPSCOPE_TRIAL_COPY"
"""An environment variable: which copy a process belongs to. It finds processes that left their parent and their session."""
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Makes this process the parent of copies' processes whose own parent has ended, so that they can be found."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def when_parent_dies(what: signal.Signals) -> None:
    """Sends this process that signal when its parent dies."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(what), 0, 0, 0)


def parents() -> dict[int, int]:
    """The parent of each process."""
    found = {}
    for name in os.listdir(PROC):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = (PROC / name / "stat").read_text().rpartition(")")[2].split()
                if fields[0] != "Z":
                    found[int(name)] = int(fields[1])
    return found


def tree(root: int, mark: str) -> list[int]:
    """The process ``root``, all that it started, and adopted orphans with that mark; parents before children."""
    above = parents()
    below: dict[int, list[int]] = {}
    for process, parent in above.items():
        below.setdefault(parent, []).append(process)
    orphans = [one for one in below.get(os.getpid(), []) if one != root and is_marked(one, mark)]
    waiting = ([root] if root in above else []) + orphans
    found: list[int] = []
    while waiting:
        process = waiting.pop(0)
        found.append(process)
        waiting += below.get(process, [])
    return found


def is_marked(process: int, mark: str) -> bool:
    try:
        return f"{MARK}={mark}".encode() in (PROC / str(process) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def send(processes: list[int], what: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, what)


def stop(root: int, mark: str) -> None:
    """Stops a copy. Repeats until no process is new: one may have been started meanwhile."""
    stopped: set[int] = set()
    for _ in range(4):
        new = [one for one in tree(root, mark) if one not in stopped]
        if not new:
            return
        send(new, signal.SIGSTOP)
        stopped.update(new)


def proceed(root: int, mark: str) -> None:
    send(tree(root, mark)[::-1], signal.SIGCONT)


def kill(root: int, mark: str) -> None:
    for _ in range(20):
        left = tree(root, mark)
        if not left:
            return
        send(left, signal.SIGKILL)
        reap()
        time.sleep(0.01)


def reap() -> None:
    """Takes the exit codes of adopted orphans. Leaves the copies themselves to their Popen."""
    with contextlib.suppress(ChildProcessError):
        for name in (PROC / "self/task").iterdir():
            for child in (name / "children").read_text().split():
                if int(child) not in copies:
                    os.waitpid(int(child), os.WNOHANG)


copies: set[int] = set()
"""The root processes of copies."""


def memory(processes: list[int]) -> int:
    """Bytes that these processes hold; what they share is counted once."""
    total = 0
    for process in processes:
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in (PROC / str(process) / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total
