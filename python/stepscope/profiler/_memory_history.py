"""``MemoryHistory``: PyTorch's record of its device allocator, written as snapshots that stepscope reads."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Literal, Protocol

from stepscope._errors import ProfilerError

NEW_PEAK = 1.05
"""Times the highest peak so far: a step's peak is worth a snapshot."""
MOST_PEAKS = 8
MOST_FAILURES = 3
"""Snapshots of each kind; a program that catches errors can have thousands."""

LIBRARIES = (str(Path(__file__).parents[1]) + os.sep, os.path.dirname(os.__file__) + os.sep, "<frozen")
"""Files that are not the program's own begin so."""

Observer = Callable[[int, int, int, int], None]
"""Called with the device, the bytes asked for, the bytes of this process on the device, and the bytes that the device has free."""


class Allocator(Protocol):
    """What is used of ``torch.cuda.memory`` and ``torch.xpu.memory``."""

    def _record_memory_history(self, *arguments: Any, **options: Any) -> None: ...
    def _dump_snapshot(self, filename: str) -> None: ...
    def max_memory_allocated(self) -> int: ...
    def reset_peak_memory_stats(self) -> None: ...


class MemoryHistory:
    """Records from start() to stop() what the device's allocator does, and writes memory snapshots into a folder.

    ``NAME.oom.pickle`` in the moment in which an allocation fails (the next ones are ``oom2`` and ``oom3``), with a line on stderr
    that says whose line asked; ``NAME.peak.pickle`` after a step() whose peak is 5 % above those before it; ``NAME.end.pickle`` at the end. Each
    holds the last ``max_entries`` events.

    Parameters
    ----------
    folder: is made if it is absent.
    max_entries: events that are kept; each takes about 100 bytes in the file.
    stacks: "python" is quick to write; "all" also names C++ functions, and takes minutes to write for long recordings.
    name: begins the files' names.

    Raises ProfilerError if this PyTorch has no device whose allocator keeps a history.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        max_entries: int = 1_000_000,
        stacks: Literal["python", "all"] = "python",
        name: str = "memory",
        allocator: Allocator | None = None,
        observe: Callable[[Observer], None] | None = None,
    ) -> None:
        if stacks not in ("python", "all"):
            raise ProfilerError(f'stacks must be "python" or "all", not {stacks!r}')
        if not isinstance(max_entries, int) or max_entries < 1:
            raise ProfilerError(f"max_entries, the number of events that are kept, must be a whole number above 0, not {max_entries!r}")
        self.folder = Path(os.path.abspath(folder))
        self.written: list[Path] = []
        self._max_entries, self._stacks, self._name = max_entries, stacks, name
        self._allocator, self._observe = (allocator, observe) if allocator is not None else of_torch()
        self._pid = os.getpid()
        self._best = self._peaks = self._failures = 0
        self._is_on = self._is_writing = False

    def start(self) -> None:
        if self._is_on:
            raise ProfilerError("the memory history is already on; stop it before you start it again")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._allocator._record_memory_history("all", stacks=self._stacks, max_entries=self._max_entries)
        self._allocator.reset_peak_memory_stats()
        self._is_on = True
        if self._observe is not None:
            mine = weakref.ref(self)  # an observer cannot be taken back

            def failed(device: int, asked: int, held: int, free: int) -> None:
                if (history := mine()) is not None:
                    history._failed(device, asked, free)

            self._observe(failed)
            self._observe = None

    def step(self) -> None:
        """Ends a step: its peak is compared with those of the steps before it."""
        if not self._is_mine():
            return
        peak = self._allocator.max_memory_allocated()
        self._allocator.reset_peak_memory_stats()
        if peak > self._best * NEW_PEAK and self._peaks < MOST_PEAKS:
            self._best = peak
            self._peaks += 1
            self._write("peak")

    def stop(self) -> None:
        """Writes the last snapshot. Does nothing in a forked child, or when it is not on."""
        if not self._is_mine():
            return
        self._is_on = False
        try:
            self._write("end")
        finally:
            self._allocator._record_memory_history(None)

    def __enter__(self) -> MemoryHistory:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def _is_mine(self) -> bool:
        return self._is_on and os.getpid() == self._pid

    def _write(self, what: str) -> Path:
        path = self.folder / f"{self._name}.{what}.pickle"
        part = path.with_suffix(".part")
        self._allocator._dump_snapshot(str(part))
        part.replace(path)
        if path not in self.written:
            self.written.append(path)
        return path

    def _failed(self, device: int, asked: int, free: int) -> None:
        """Called by the allocator, before it raises. Nothing here may replace the program's error."""
        if not self._is_mine() or self._is_writing or self._failures >= MOST_FAILURES:
            return
        self._is_writing = True
        try:
            self._failures += 1
            path = self._write("oom" if self._failures == 1 else f"oom{self._failures}")
            say(f"{asking_line()} could not get {mebibytes(asked)} of device {device}, which had {mebibytes(free)} free; ask: stepscope {path}")
        except Exception as error:
            say(f"no snapshot of the failed allocation: {error or type(error).__name__}")
        finally:
            self._is_writing = False


def of_torch() -> tuple[Allocator, Callable[[Observer], None] | None]:
    """The allocator of PyTorch's device, and the function that registers an observer of failed allocations."""
    torch: Any = importlib.import_module("torch")
    for device in ("cuda", "xpu"):
        module = getattr(torch, device, None)
        if module is not None and module.is_available() and hasattr(module.memory, "_record_memory_history"):
            return module.memory, getattr(torch._C, f"_{device}_attach_out_of_memory_observer", None)
    raise ProfilerError("PyTorch sees no device whose allocator keeps a history: torch.cuda.is_available() is False")


def asking_line() -> str:
    """The innermost line of the program's own files that runs now: in this thread, or, in a backward pass, in the main thread."""
    main = threading.main_thread().ident
    frames = (sys._getframe(), sys._current_frames().get(main) if main is not None else None)
    for start in frames:
        frame: FrameType | None = start
        while frame is not None:
            file = frame.f_code.co_filename
            if not file.startswith(LIBRARIES) and "site-packages" not in file and "dist-packages" not in file:
                return f"{file}({frame.f_lineno}): {frame.f_code.co_name}"
            frame = frame.f_back
    return "the program"


def mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"


def say(what: str) -> None:
    print(f"stepscope: {what}", file=sys.stderr, flush=True)
