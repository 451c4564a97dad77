"""One recording: creating its file, starting, stopping and exporting it."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
import warnings
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from stepscope import _collect, _core
from stepscope._errors import NoResultsError, ProfilerError
from stepscope.profiler import _places
from stepscope.profiler._garbage import record_collections
from stepscope.profiler._observer import PACKAGE, observer
from stepscope.profiler._places import File, identity
from stepscope.profiler._told import tell_torch, told

SHAPES, MEMORY, STACKS, FLOPS, MODULES, OVERLOADS, SHAPES_WHILE_CHEAP, NEWEST = 1, 2, 4, 8, 16, 32, 64, 128
"""Flags of a recording; the numbers of record/format.h."""
ALL_CALLS, MODULE_CALLS, SAMPLED_STACKS = 1, 2, 4
"""Flags of ``_collect.python_start``."""


class Recording:
    """Ops, ranges and whatever else ``flags`` select, of all threads of this process, in a file that survives a kill.

    Without ``path`` the file is temporary: it is removed with this object, unless the recording was never stopped.
    ``missing`` lists what is not recorded, as sentences, which are also in the file. ``sampled``: STACKS are samples, not calls.
    ``worker_of``: the parent's process id and the worker's number, if this process is a data loader's worker.
    """

    def __init__(
        self,
        flags: int,
        path: Path | None = None,
        megabytes: int = 256,
        *,
        with_ops: bool = True,
        with_devices: bool = False,
        with_collections: bool = False,
        sampled: bool = False,
        worker_of: tuple[int, int] | None = None,
        gives_way: bool = False,
    ) -> None:
        global being_made
        if being_made is not None and being_made.yields:
            close(being_made)
            being_made.stopped = True
        if is_recorded():
            raise ProfilerError("another profiler is recording in this process; stop it first, then start this one")
        self._observer = torch_observer() if with_ops else None
        self._flags = flags
        self._with_collections = with_collections
        self._file = File(path)
        self._file.gives_way = gives_way or worker_of is not None
        stacks = SAMPLED_STACKS if sampled else ALL_CALLS
        self._python = stacks * bool(flags & STACKS) | MODULE_CALLS * bool(flags & MODULES)
        weakref.finalize(self, leave, self._file).atexit = False
        alive.add(self)
        try:
            being_made = self._file
            for sentence in _places.make(self._file, megabytes, flags, falls_back=worker_of is None):
                warnings.warn(sentence, stacklevel=2)
            if worker_of is not None:
                _collect.worker_of(*worker_of)
            if with_devices:
                miss(_collect.attach_devices(PACKAGE / "libstepscope_cupti.so"))
        except BaseException:
            self.stop()
            raise

    @property
    def path(self) -> Path:
        """The file. NoResultsError if a later recording has replaced it."""
        if self._file.identity and identity(self._file.path) not in (b"", self._file.identity):
            raise NoResultsError(f"{self._file.path} was replaced by a later recording; give each profiler its own path")
        return self._file.path

    @property
    def stopped(self) -> bool:
        return self._file.stopped

    @property
    def dropped(self) -> int:
        return self._file.dropped

    @property
    def missing(self) -> list[str]:
        return self._file.missing

    @property
    def begun(self) -> bool:
        return self._file.begun

    @property
    def is_open(self) -> bool:
        return self._file.open

    @property
    def is_foreign(self) -> bool:
        """Whether this process is a child of the one that records."""
        return self._file.pid != os.getpid()

    def start(self) -> None:
        """Starts recording events; also resumes after pause()."""
        self._file.begun = True
        tell_torch(True)
        if self._observer is not None:
            inputs = 2 if self._flags & SHAPES_WHILE_CHEAP else int(bool(self._flags & (SHAPES | FLOPS)))
            _collect.pause_torch()  # of the parent, in a forked child
            miss(_collect.attach_torch(self._observer, inputs, bool(self._flags & MEMORY)))
        _collect.start()
        record_collections(self._with_collections)
        if self._python:
            miss(_collect.python_start(self._python))

    def pause(self) -> None:
        record_collections(False)
        _collect.python_stop()
        _collect.flush_devices()
        _collect.stop()
        _collect.pause_torch()
        tell_torch(False)

    def metadata(self, key: str, json_text: str) -> None:
        try:
            _collect.metadata(f"{key}={json_text}")
        except (_collect.Failed, ValueError) as error:
            raise ProfilerError(f"the metadata {key!r} was not added: {error}") from None

    def stop(self) -> None:
        """Closes the file; nothing is computed."""
        self._file.stopped = True
        if self._file.forks > 0:
            miss(FORKED.format(self._file.forks))
        close(self._file)
        self._file.identity = identity(self._file.path)

    def export(self, output: str | os.PathLike[str], metadata: Sequence[str] = ()) -> list[str]:
        """Writes Kineto's JSON with extra ``key=JSON`` metadata; returns what was lost or not recorded, as sentences."""
        return list(_core.export_recording(os.fsencode(self.path), os.fsencode(output), list(metadata))) + self.missing


being_made: File | None = None
"""The recording that is open in this process."""


def miss(sentence: str) -> None:
    """Notes in the open recording, once, what is not recorded. "" does nothing."""
    file = being_made
    if not sentence or file is None or not file.open or file.pid != os.getpid() or sentence in file.missing:
        return
    file.missing.append(sentence)
    number = len(file.missing)
    with contextlib.suppress(_collect.Failed, ValueError):  # no room in the file: events() and exports report it
        _collect.metadata(f"stepscope.not_recorded{f'.{number}' * (number > 1)}={json.dumps([sentence])}")


def is_recorded() -> bool:
    """Whether this process is recorded at the program's own request."""
    return being_made is not None and being_made.open and not being_made.yields


def close(file: File) -> None:
    """If a signal handler raised in the middle, a second call finishes."""
    if not file.open:
        return
    tell_torch(False)
    record_collections(False)
    file.dropped += _collect.close()
    file.open = False


def leave(file: File) -> None:
    """Closes a recording that is no longer referenced, and removes its file if it is temporary."""
    if file.pid != os.getpid() or file.left:
        return
    file.left = True
    close(file)
    if not file.is_temporary and file.begun:
        return
    if file.stopped or not file.begun or file.memory is not None:
        _places.remove(file)
    else:
        print(f"stepscope: a profiler was never stopped; its recording is in {file.path}", file=sys.stderr)


alive: weakref.WeakSet[Recording] = weakref.WeakSet()


def leave_all() -> None:
    for recording in list(alive):
        leave(recording._file)


# Registered here, not by weakref: exit handlers that stop profilers are registered later, so they run first.
atexit.register(leave_all)


def forget_in_child() -> None:
    """Forgets the parent's recording here; the C++ collector does so by itself."""
    global being_made
    being_made = None
    if told:
        tell_torch(False)
    record_collections(False)


FORKED = (
    "what {} forked child processes did is not recorded; `stepscope record` records them too, and a child may make a profiler of its own"
)


def count_fork() -> None:
    """Called in the parent. Loaders' workers record themselves, and so do children under `stepscope record`."""
    file = being_made
    if file is None or not file.open or not file.begun or file.gives_way or file.pid != os.getpid():
        return
    frame: FrameType | None = sys._getframe()
    while frame is not None and not frame.f_code.co_filename.endswith("torch/utils/data/dataloader.py"):
        frame = frame.f_back
    file.forks += frame is None


os.register_at_fork(after_in_child=forget_in_child, after_in_parent=count_fork)


def torch_observer() -> Any:
    try:
        import torch
    except ImportError:
        raise ProfilerError("recording ops needs PyTorch; install torch, or use activities=[] to record only ranges") from None
    return observer(torch)
