"""The results of a profiler's finished cycles."""

from __future__ import annotations

import dataclasses
import os
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope._errors import NoResultsError, ProfilerError
from stepscope.profiler._activity_configs import remove_categories
from stepscope.profiler._event_list import EventList, all_events, key_averages
from stepscope.profiler._events import FunctionEventAvg
from stepscope.profiler._kineto_results import InnerProfiler
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
    parse_kineto_call_duration_us: int = 0
    function_events_build_tree_call_duration_us: int = 0


class Results:
    """Finished recordings; read once, on first access."""

    record_shapes: Any
    with_flops: Any
    with_stack: Any
    _left_out: frozenset[str] = frozenset()
    """The categories that exported files do not have."""

    def __init__(self, flags: int) -> None:
        self._flags = flags
        self._finished: list[Recording] = []
        self._on: Recording | None = None
        self._rows: Rows | None = None
        self._events: EventList | None = None
        self._metadata: dict[str, str] = {}
        self._times = ProfilerStats()
        self._began_ns = 0

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
            began = time.perf_counter()
            paths = [recording.path for recording in self._finished]
            self._rows = Rows(paths, bool(self._flags & MEMORY), bool(self._flags & FLOPS))
            self._times.parse_kineto_call_duration_us = since(began)
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
            began = time.perf_counter()
            self._events = all_events(rows)
            self._times.function_events_build_tree_call_duration_us = since(began)
        return self._events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
    ) -> EventList:
        """Sums of ops and ranges by name and, if asked, by input shapes, the top ``group_by_stack_n`` stack entries or overload."""
        rows = self._read("key_averages")
        return key_averages(rows, group_by_input_shape, group_by_stack_n, group_by_overload_name, include_python_functions)

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
    def profiler(self) -> InnerProfiler | None:
        """The results under the names that torch.profiler has here; None before the start."""
        return InnerProfiler(self) if self._has_begun else None

    @property
    def _has_begun(self) -> bool:
        return self._on is not None or bool(self._finished)

    def export_chrome_trace(
        self,
        path: str | os.PathLike[str],
        use_python_export: bool = False,
        cuda_graph_annotations: Mapping[int, Any] | None = None,
        graph_lanes: str = "none",
        default_stream: int = 7,
    ) -> None:
        """Writes the last cycle as Kineto's JSON, compressed if the path ends in .gz. May be called again.

        The other arguments are torch.profiler's and have no effect.
        """
        if cuda_graph_annotations or graph_lanes != "none":
            warnings.warn("cuda_graph_annotations and graph_lanes are not supported and have no effect", stacklevel=2)
        if not os.fspath(path):
            raise ProfilerError(f"export_chrome_trace({path!r}) names no file; give it a path, e.g. trace.json")
        last = self._last("export_chrome_trace")
        for note in last.export(path, [f"{key}={value}" for key, value in self._metadata.items()]):
            warnings.warn(note, stacklevel=2)
        if self._left_out:
            remove_categories(path, self._left_out)

    def wait_for_exports(self) -> None:
        """Does nothing: files are whole when ``export_chrome_trace`` returns."""

    def take_pending_cuspy_export(self) -> None:
        """None: stepscope does not use PyTorch's cuspy."""
        return None

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

    def _stats(self) -> ProfilerStats | None:
        """The last cycle's costs; None before the start."""
        if not self._has_begun:
            return None
        if self._on is None:
            self._times.number_of_events = len(self._read("_stats"))
        return self._times


def since(began: float) -> int:
    """In µs."""
    return int((time.perf_counter() - began) * 1e6)
