"""A profiler for training loops that a trainer runs; the base class of the trainers' callbacks."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any

from stepscope._errors import ProfilerError
from stepscope.profiler import _dataloader
from stepscope.profiler._profile import profile
from stepscope.profiler._schedule import schedule


class TrainingProfiler:
    """Records steps of a training into ``folder``, one file per rank; ``arguments`` are those of ``profile``.

    Without a ``schedule``, steps 2 to 4 are recorded. ``profiler`` is the ``profile`` of the last training. In a ``with``
    block, the recording ends with the block at the latest.
    """

    def __init__(self, folder: str | os.PathLike[str] = "stepscope", **arguments: Any) -> None:
        if "path" in arguments:
            raise ProfilerError("path is for a single process; name a folder instead, in which each rank gets its own file")
        self.folder = Path(folder)
        self.arguments = arguments
        self.profiler: Any = None
        self._is_on = False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.end()

    def prepare(self, rank: int) -> None:
        """Makes the profiler; data loaders that are made later are followed."""
        self.end()
        arguments = {"schedule": schedule(wait=1, warmup=1, active=3, repeat=1), **self.arguments}
        if arguments.get("backend") != "kineto":
            self.folder.mkdir(parents=True, exist_ok=True)
            arguments["path"] = self.folder / f"rank{rank}.stepscope"
        self.profiler = profile(**arguments)
        if isinstance(self.profiler, profile):
            _dataloader.follow(self.profiler, self.profiler._flags)

    def begin(self) -> None:
        self.profiler.__enter__()
        self._is_on = True

    def step(self) -> None:
        if self._is_on:
            self.profiler.step()

    def end(self) -> None:
        """Ends the recording, if there is one."""
        if self._is_on:
            self._is_on = False
            self.profiler.__exit__(None, None, None)
        elif self.profiler is not None:
            _dataloader.unfollow(self.profiler)
