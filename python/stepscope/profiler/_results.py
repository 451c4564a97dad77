"""The results of a profiler's finished cycles."""

from __future__ import annotations

import dataclasses
import os
import warnings
from pathlib import Path
from typing import Any

from stepscope._errors import NoResultsError, ProfilerError
from stepscope.profiler._event_list import EventList, all_events, key_averages
from stepscope.profiler._events import FunctionEventAvg
from stepscope.profiler._memory_timeline import MemoryTimeline
from stepscope.profiler._recording import FLOPS, MEMORY, STACKS, Recording
from stepscope.profiler._rows import Rows


@dataclasses.dataclass
class ProfilerStats:
    """The profiler's own costs in the last cycle."""

    profiling_window_duration_sec: float = 0.0
    number_of_events: int = 0
    profiler_prepare_call_duration_us: int = 0
    profiler_enable_call_duration_us: int = 0
    profiler_disable_call_duration_us: int = 0


class Results:
    """Finished recordings; read once, on first access."""

    with_stack: Any

    def __init__(self, flags: int) -> None:
        self._flags = flags
        self._finished: list[Recording] = []
        self._on: Recording | None = None
        self._rows: Rows | None = None
        self._events: EventList | None = None
        self._metadata: dict[str, str] = {}
        self._times = ProfilerStats()

    def _forget(self) -> None:
        self._finished = []
        self._rows = self._events = None

    def _last(self, what: str) -> Recording:
        if self._on is not None:
            if self._on.is_foreign:
                raise NoResultsError(f"{what}() in a forked child: the recording belongs to the parent; make a profiler in the child")
            raise NoResultsError(f"{what}() was called while the profiler records; stop it first, or read results in on_trace_ready")
        if not self._finished:
            raise NoResultsError(f"{what}() was called before anything was recorded; start the profiler, run steps, then stop it")
        return self._finished[-1]

    def _read(self, what: str) -> Rows:
        self._last(what)
        if self._rows is None:
            paths = [recording.path for recording in self._finished]
            self._rows = Rows(paths, bool(self._flags & MEMORY), bool(self._flags & FLOPS))
            lacking = [sentence for recording in self._finished for sentence in recording.missing]
            for note in (*self._rows.recorded.notes, *dict.fromkeys(lacking)):
                warnings.warn(note, stacklevel=3)
        return self._rows

    @property
    def recording_path(self) -> Path:
        """The last cycle's file; temporary unless ``path`` was given. The command ``stepscope`` reads it, too."""
        return self._last("recording_path").path

    def events(self) -> EventList:
        """All ops and ranges, by begin."""
        rows = self._read("events")
        if self._events is None:
            self._events = all_events(rows)
        return self._events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Sums of ops and ranges by name and, if asked, by input shapes, the top ``group_by_stack_n`` stack entries or overload."""
        return key_averages(self._read("key_averages"), group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        return self.events().total_average()

    def table(self, *args: Any, **kwargs: Any) -> str:
        return self.events().table(*args, **kwargs)

    @property
    def self_cpu_time_total(self) -> float:
        """Total self CPU time in µs."""
        return sum(self._read("self_cpu_time_total").columns["self_ns"]) / 1000

    @property
    def function_events(self) -> EventList:
        return self.events()

    @property
    def profiler(self) -> Results:
        """This object; torch.profiler has a separate object here."""
        return self

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the last cycle as Kineto's JSON, compressed if the path ends in .gz. May be called again."""
        if not os.fspath(path):
            raise ProfilerError(f"export_chrome_trace({path!r}) names no file; give it a path, e.g. trace.json")
        last = self._last("export_chrome_trace")
        for note in last.export(path, [f"{key}={value}" for key, value in self._metadata.items()]):
            warnings.warn(note, stacklevel=2)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Writes stacks for flame graphs, a line per event. ProfilerError without ``with_stack=True``."""
        if not self._flags & STACKS:
            raise ProfilerError("export_stacks() needs stacks; record with with_stack=True")
        if self.with_stack == "sampled":
            raise ProfilerError("export_stacks() needs the stack of each op, which samples do not have; record with with_stack=True")
        self.events().export_stacks(path, metric)

    def export_memory_timeline(self, path: str | os.PathLike[str], device: str | None = None) -> None:
        """Writes what a device's memory was used for over time: a page (.html), sums (.json, .json.gz) or changes (raw.json.gz)."""
        self._memory_timeline("export_memory_timeline", device).write(path)

    def _memory_profile(self) -> MemoryTimeline:
        return self._memory_timeline("_memory_profile")

    def _memory_timeline(self, what: str, device: str | None = None) -> MemoryTimeline:
        if not self._flags & MEMORY:
            raise ProfilerError(f"{what}() needs memory events; record with profile_memory=True")
        return MemoryTimeline(self._last(what).path, device)

    def _stats(self) -> ProfilerStats:
        return dataclasses.replace(self._times, number_of_events=len(self._read("_stats")))
