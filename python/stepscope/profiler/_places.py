"""Where recordings are: their files, the folder of temporary ones, and what to do where a file cannot be."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import glob
import os
import re
import socket
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from stepscope import _collect
from stepscope._errors import Error, ProfilerError

MAGIC = b"STEPREC\n"

NO_PLACE = {
    errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG,
    errno.ENODEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP,
}  # fmt: skip
"""Errors of a place that another place does not have; the last four: a file system without shared mappings."""


@dataclasses.dataclass
class File:
    """What outlives a Recording object."""

    asked: Path | None
    """The path that was asked for; None: a temporary file."""
    path: Path = Path()
    """Where it is, and what remove() removes; Path() before it may be made."""
    memory: int | None = None
    """The descriptor of a file that exists in memory only."""
    identity: bytes = b""
    """Distinguishes this recording from a later one at the same path; set by stop()."""
    pid: int = dataclasses.field(default_factory=os.getpid)
    open: bool = True
    begun: bool = False
    stopped: bool = False
    left: bool = False
    gives_way: bool = False
    """Whether a profiler that the program makes takes over, because the program did not ask for this recording."""
    forks: int = 0
    """Child processes that the program forked meanwhile, without loaders' workers."""
    dropped: int = 0
    """Number of records for which there was no room; set by close()."""
    missing: list[str] = dataclasses.field(default_factory=list)
    """Sentences: what is not recorded, and why."""

    @property
    def is_temporary(self) -> bool:
        return self.path != self.asked

    @property
    def yields(self) -> bool:
        """Whether the next recording may take over, because this one was not asked for or its end was interrupted."""
        return self.open and (self.gives_way or self.stopped or self.left)


def make(file: File, megabytes: int, flags: int, *, falls_back: bool) -> list[str]:
    """Opens the recording where it was asked for, else in the temporary folder, else in memory: a program that could run under
    torch.profiler goes on. Returns sentences about what is not as asked."""
    refusals: list[OSError] = []
    for place, is_own in places(file):
        try:
            place()
            size = open_within_limits(file, megabytes, flags)
        except _collect.Busy as error:
            file.open = False
            raise ProfilerError(f"another profiler is recording in this process: {error}") from None
        except OSError as error:
            if error.errno is None:  # not the file's: a signal handler raised it
                raise
            refusals.append(error)
            if falls_back and (error.errno in NO_PLACE or not is_own):
                continue
            break
        return [*moved(file, refusals), *smaller(size, megabytes)]
    file.open = False
    first = file.asked or file.path
    raise Error(f"{refusals[0].filename or first}: {refusals[0].strerror}; {advice(refusals[0])}") from None


def advice(refusal: OSError) -> str:
    if isinstance(refusal, _collect.Failed):
        return "choose another place with profile(path=…), or a smaller size with megabytes="
    return "choose a path whose folder can be created"


def places(file: File) -> Iterator[tuple[Callable[[], None], bool]]:
    """Functions that set the file's path, or raise an OSError if there is no such place; and whether the caller named the place."""

    def asked() -> None:
        assert file.asked is not None
        make_way(file.asked)
        file.path = file.asked

    def temporary() -> None:
        file.path = scratch() / f"{socket.gethostname()}_{os.getpid()}.{time.time_ns()}.stepscope"

    def in_memory() -> None:
        file.memory = os.memfd_create("stepscope")
        file.path = Path(f"/proc/self/fd/{file.memory}")

    if file.asked is not None:
        yield asked, True
    yield temporary, False
    yield in_memory, False


def open_within_limits(file: File, megabytes: int, flags: int) -> int:
    """Opens it with that size, or, where memory addresses are short (ulimit -v), with a smaller one; returns the size."""
    while True:
        try:
            _collect.open(file.path if file.memory is None else file.memory, megabytes, flags)
        except _collect.Failed as error:
            if error.errno != errno.ENOMEM or megabytes == 1:
                raise
            megabytes //= 2
        else:
            return megabytes


def moved(file: File, refusals: list[OSError]) -> list[str]:
    if not refusals:
        return []
    place = f"in {file.path}" if file.memory is None else "in memory, and is lost if the program is killed"
    reasons = "; ".join(dict.fromkeys(os.strerror(refusal.errno) if refusal.errno else str(refusal) for refusal in refusals))
    return [f"the recording is {place}, because its file could not be created ({reasons})"]


def smaller(size: int, megabytes: int) -> list[str]:
    if size == megabytes:
        return []
    return [f"the recording holds at most {size} MiB instead of {megabytes} MiB, because the program's address space is limited (ulimit -v)"]


def remove(file: File) -> None:
    """Removes a temporary recording, with those of its workers."""
    if file.memory is not None:
        os.close(file.memory)
        file.memory = None
        return
    if file.path == Path():
        return
    for path in (file.path, *beside(file.path)):
        path.unlink(missing_ok=True)


def identity(path: Path) -> bytes:
    """Bytes of the header that identify a recording: its process and begin; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(96)
    except OSError:
        return b""
    return head[28:32] + head[72:]


def make_way(path: Path) -> None:
    """Makes the folder, and removes an earlier recording at the path, and its later cycles. Raises Error if the path is anything else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        raise Error(f"{path} is a link, and recordings do not follow links; give the path of the file itself")
    if not path.exists():
        return
    if not is_recording(path):
        raise Error(f"{path} exists and is not a recording, so it is not replaced; choose another path")
    for old in (path, *beside(path), *later_cycles(path)):
        old.unlink(missing_ok=True)


def is_recording(path: Path) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def later_cycles(path: Path) -> list[Path]:
    """``run.2.stepscope`` and so on of the same process, with the recordings of their workers."""
    named = path.parent.glob(f"{glob.escape(path.stem)}.*{glob.escape(path.suffix)}")
    cycles = [
        found
        for found in named
        if found.stem[len(path.stem) + 1 :].isdecimal() and is_recording(found) and identity(found)[:4] == identity(path)[:4]
    ]
    return cycles + [worker for cycle in cycles for worker in beside(cycle)]


def beside(path: Path) -> list[Path]:
    """The recordings of the data loader workers of the recording at ``path``."""
    return [found for found in path.parent.glob(f"{glob.escape(path.stem)}.worker*_*.stepscope") if is_recording(found)]


def scratch() -> Path:
    """The folder of recordings without a path; those of killed programs stay there."""
    folder = Path(tempfile.gettempdir()) / f"stepscope-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    if about.st_uid != os.getuid() or folder.is_symlink():
        raise Error(f"{folder} is a link or belongs to another user, so nothing is recorded into it; set TMPDIR to a folder that you own")
    sweep(folder)
    return folder


def own_file(kind: str, ending: str = "") -> Path:
    """The path of a file of this process in scratch()."""
    return scratch() / f"{kind}-{os.getpid()}-{machine()}{ending}"


@functools.cache
def machine() -> str:
    """An id of the host and container, as process ids are unique only within one."""
    ids = 0
    with contextlib.suppress(OSError):  # no /proc: only the host name
        ids = os.stat("/proc/self/ns/pid").st_ino
    return f"{zlib.crc32(f'{socket.gethostname()} {ids}'.encode()):08x}"


@functools.cache
def sweep(folder: Path) -> None:
    """Removes sockets and links of killed processes of this machine, once per process; recordings stay."""
    for path in folder.glob(f"*-{machine()}*"):
        own = re.fullmatch(r"(?:control|loader)-(\d{1,9})-[0-9a-f]{8}(?:\.sock|\.part)?", path.name)
        if own is None:
            continue
        try:
            os.kill(int(own[1]), 0)
        except ProcessLookupError:
            path.unlink(missing_ok=True)
        except OSError:  # another user's process
            continue


__all__ = ["FLOPS", "MEMORY", "MODULES", "OVERLOADS", "SHAPES", "SHAPES_WHILE_CHEAP", "STACKS", "Recording", "own_file", "scratch"]
