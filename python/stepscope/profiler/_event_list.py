"""``EventList``: the events of a recording, or averages of them, as a list that prints itself."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable
from typing import Any

from stepscope._errors import ProfilerError
from stepscope.profiler._config import ArgumentError
from stepscope.profiler._events import FunctionEvent, FunctionEventAvg, device_type
from stepscope.profiler._rows import USER_SCOPE, Rows
from stepscope.profiler._text import Widths, table_text

METRICS = ("self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total")


class EventList(list[Any]):
    """A list of ``FunctionEvent`` or ``FunctionEventAvg``."""

    supported_export_stacks_metrics = METRICS

    def __init__(self, events: Iterable[Any], rows: Rows) -> None:
        super().__init__(events)
        self._rows = rows

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        """Total self CPU time in µs."""
        return float(sum(event.self_cpu_time_total for event in self))

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """A table as text. ``sort_by`` names an attribute, largest first; ``row_limit=-1`` prints all rows."""
        return table_text(
            self,
            sort_by,
            header,
            row_limit,
            Widths(max_src_column_width, max_name_column_width, max_shapes_column_width),
            self._rows.with_flops,
            self._rows.with_memory,
            top_level_events_only,
            time_unit,
        )

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
    ) -> EventList:
        return key_averages(self._rows, group_by_input_shapes, group_by_stack_n, group_by_overload_name, include_python_functions)

    def total_average(self) -> FunctionEventAvg:
        total = FunctionEventAvg("Total")
        for event in self:
            total += event
        return total

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the events as a list of JSON objects; the profiler's method of that name writes the whole trace."""
        if any(isinstance(event, FunctionEventAvg) for event in self):
            raise ProfilerError("averages have no begin and end; export events() instead")
        opener: Any = gzip.open if os.fspath(path).endswith(".gz") else open
        with opener(path, "wt", encoding="utf-8") as file:
            json.dump([as_slice(event) for event in self if event.trace_name is not None], file)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Writes a line per event for flame graphs: frames, outermost first, then the metric in µs."""
        if metric not in METRICS:
            raise ValueError(f"there is no stack metric {metric!r}; the metrics are {', '.join(METRICS)}")
        attribute = metric.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")
        clean = str.maketrans(" ;\t\n", "____")
        with open(path, "w") as file:
            for event in self:
                value = int(getattr(event, attribute))
                if event.stack and value > 0:
                    frames = (frame.translate(clean) for frame in reversed(event.stack))
                    file.write(f"{';'.join(frames)} {value}\n")


def as_slice(event: FunctionEvent) -> dict[str, Any]:
    """In the format of Chrome's traces."""
    times = event.time_range
    group = "CPU functions" if event.device_index < 0 else f"{event.use_device} {event.device_index}"
    return {
        "name": event.trace_name,
        "ph": "X",
        "ts": times.start,
        "dur": round(times.elapsed_us(), 3),
        "tid": event.device_resource_id,
        "pid": group,
        "args": {},
    }


def all_events(rows: Rows) -> EventList:
    """All events by begin. Parents and children are found by their index in this list."""
    events: list[FunctionEvent] = []
    events.extend(FunctionEvent(rows, row, events) for row in range(len(rows)))
    return EventList(events, rows)


def key_averages(
    rows: Rows, by_shapes: bool, stack_depth: int, by_overload: bool = False, with_python_calls: bool = False
) -> EventList:
    if not isinstance(stack_depth, int):
        raise ArgumentError(f"group_by_stack_n must be a number of stack entries, 0 for none, not {stack_depth!r}")
    columns = rows.averages(bool(by_shapes), stack_depth, bool(by_overload))
    lazy = LazyEvents(rows)
    out = EventList((), rows)
    for group, name in enumerate(columns["name"]):
        average = FunctionEventAvg(rows.texts[name])
        average._first = FunctionEvent(rows, columns["first"][group], lazy)
        average.count = columns["count"][group]
        average.cpu_time_total = columns["total_ns"][group] / 1000
        average.self_cpu_time_total = columns["self_ns"][group] / 1000
        average.device_time_total = columns["device_ns"][group] / 1000
        average.self_device_time_total = columns["self_device_ns"][group] / 1000
        average.use_device = rows.use_device
        average.device_type = device_type(columns["device"][group] >= 0)
        average.cpu_memory_usage = columns["cpu_bytes"][group]
        average.self_cpu_memory_usage = columns["self_cpu_bytes"][group]
        average.device_memory_usage = columns["device_bytes"][group]
        average.self_device_memory_usage = columns["self_device_bytes"][group]
        average.flops = columns["flops"][group]
        average.scope = columns["scope"][group]
        average.is_user_annotation = average.scope == USER_SCOPE
        average.is_async = bool(columns["is_async"][group])
        average.has_parent = columns["parent"][group] >= 0
        if by_shapes:
            average.input_shapes = average._first.input_shapes
        if by_overload and columns["overload"][group] >= 0:
            average.overload_name = rows.texts[columns["overload"][group]]
        if stack_depth > 0:
            average.stack = rows.stacks[columns["stack"][group]][:stack_depth]
        if with_python_calls or not getattr(average._first, "is_python_function", False):
            out.append(average)
    return out


class LazyEvents(list[FunctionEvent]):
    """Events by index, made on access."""

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self._rows = rows

    def __getitem__(self, row: Any) -> Any:
        return FunctionEvent(self._rows, row, self)
