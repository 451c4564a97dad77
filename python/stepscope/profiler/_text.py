"""Events as a table of text, in torch.profiler's layout."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from stepscope._errors import ProfilerError
from stepscope.profiler._units import US_PER, memory_text, share_text, time_text

NUMBER_WIDTH = 12
GAP = "  "
FLOPS_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


class Column(NamedTuple):
    title: str
    text: Callable[[Any], str]
    width: int = NUMBER_WIDTH
    is_left: bool = False


class Widths(NamedTuple):
    source: int
    name: int | None
    shapes: int


def sorted_by(events: Sequence[Any], sort_by: str | None) -> list[Any]:
    """Sorted by an attribute, largest first; "cuda", "xpu" and "privateuse1" in its name mean "device"."""
    if sort_by is None:
        return list(events)
    attribute = sort_by.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")
    if events and not hasattr(events[0], attribute):
        raise ProfilerError(f"the events have no attribute {sort_by!r} to sort by; use, for example, cpu_time_total")
    return sorted(events, key=lambda event: getattr(event, attribute), reverse=True)


def name_text(name: str, most: int | None) -> str:
    return name if most is None else name[: most - 3] + "..." if len(name) >= most - 3 else name


def column_width(names: Sequence[str], most: int | None) -> int:
    width = max(map(len, names)) + 4
    return width if most is None else min(width, most)


def source_text(place: str, most: int) -> str:
    return "..." + place[3 - most :] if len(place) > most else place


def flops_scale(events: Sequence[Any]) -> int:
    """The power of 1000 that fits the smallest FLOPs above 0."""
    least = min((event.flops for event in events if event.flops > 0), default=0)
    return min(max(int(math.log10(least) / 3), 0), len(FLOPS_UNITS) - 1) if least else 0


def time_of_devices(events: Sequence[Any]) -> float:
    """The total time of device work. Ops and stream ranges are left out: they would count it again."""
    return float(sum(e.self_device_time_total for e in events if int(e.device_type) != 0 and not e.is_user_annotation))


def time_columns(events: Sequence[Any], unit: str | None, device: str) -> list[Column]:
    cpu = sum(event.self_cpu_time_total for event in events)
    dev = time_of_devices(events)

    def total_share(event: Any) -> str:
        return share_text(0 if event.is_async else event.cpu_time_total, cpu)

    out = [
        Column("Self CPU %", lambda e: share_text(e.self_cpu_time_total, cpu)),
        Column("Self CPU", lambda e: time_text(e.self_cpu_time_total, unit)),
        Column("CPU total %", total_share),
        Column("CPU total", lambda e: time_text(e.cpu_time_total, unit)),
        Column("CPU time avg", lambda e: time_text(e.cpu_time, unit)),
    ]
    if any(event.self_device_time_total > 0 for event in events):
        if not device:
            raise ProfilerError("the events have device times but no device: the recording is incomplete")
        out += [
            Column(f"Self {device}", lambda e: time_text(e.self_device_time_total, unit)),
            Column(f"Self {device} %", lambda e: share_text(e.self_device_time_total, dev)),
            Column(f"{device} total", lambda e: time_text(e.device_time_total, unit)),
            Column(f"{device} time avg", lambda e: time_text(e.device_time, unit)),
        ]
    return out


def memory_columns(events: Sequence[Any], device: str) -> list[Column]:
    out = [
        Column("CPU Mem", lambda e: memory_text(e.cpu_memory_usage)),
        Column("Self CPU Mem", lambda e: memory_text(e.self_cpu_memory_usage)),
    ]
    if device and any(event.self_device_memory_usage > 0 for event in events):
        out += [
            Column(f"{device} Mem", lambda e: memory_text(e.device_memory_usage)),
            Column(f"Self {device} Mem", lambda e: memory_text(e.self_device_memory_usage)),
        ]
    return out


def other_columns(events: Sequence[Any], widths: Widths, with_flops: bool) -> list[Column]:
    out = [Column("# of Calls", lambda e: str(e.count))]
    longest_shapes = max(len(str(event.input_shapes)) for event in events)
    if any(event.input_shapes for event in events):
        width = min(longest_shapes + 4, widths.shapes)
        out.append(Column("Input Shapes", lambda e: str(e.input_shapes)[:width], width))
    entries = [entry for event in events for entry in event.stack]
    if entries:
        width = min(max(map(len, entries)) + 4, widths.source)
        first = lambda e: source_text(e.stack[0], width) if e.stack else ""  # noqa: E731
        out.append(Column("Source Location", first, width, is_left=True))
    if with_flops and any(event.flops > 0 for event in events):
        scale = flops_scale(events)
        text = lambda e: f"{e.flops / 1000**scale:.3f}" if e.flops > 0 else "--"  # noqa: E731
        out.append(Column(f"Total {FLOPS_UNITS[scale]}", text))
    return out


def table_text(
    events: Sequence[Any],
    sort_by: str | None = None,
    header: str | None = None,
    row_limit: int = 100,
    widths: Widths = Widths(75, 55, 80),
    with_flops: bool = False,
    with_memory: bool = False,
    top_level_events_only: bool = False,
    time_unit: str | None = None,
) -> str:
    if time_unit is not None and time_unit not in US_PER:
        raise ProfilerError(f"there is no time unit {time_unit!r}; use s, ms or us")
    if not events:
        return ""
    events = sorted_by(events, sort_by)
    device = next((event.use_device.upper() for event in events if event.use_device), "")
    name_width = column_width([event.key for event in events], widths.name)
    columns = [Column("Name", lambda e: name_text(e.key, widths.name), name_width)]
    if any(event.overload_name for event in events):
        longest = column_width([event.overload_name for event in events], widths.name)
        columns.append(Column("Overload Name", lambda e: name_text(e.overload_name, widths.name), longest))
    columns += time_columns(events, time_unit, device)
    if with_memory:
        columns += memory_columns(events, device)
    columns += other_columns(events, widths, with_flops)

    def line(cells: Sequence[str]) -> str:
        padded = (f"{cell:<{c.width}}" if c.is_left else f"{cell:>{c.width}}" for c, cell in zip(columns, cells))
        return "".join(cell + GAP for cell in padded)

    rule = line(["-" * column.width for column in columns])
    out = []
    if header is not None:
        out += ["=" * (len(rule) - len(GAP)), header]
    if top_level_events_only:
        out += ["=" * (len(rule) - len(GAP)), "This report only display top-level ops statistics"]
    out += [rule, line([column.title for column in columns]), rule]
    source = next((i for i, column in enumerate(columns) if column.title == "Source Location"), None)
    shown = [event for event in events if not (top_level_events_only and has_parent(event))]
    for event in shown if row_limit < 0 else shown[:row_limit]:
        out.append(line([column.text(event) for column in columns]))
        if source is not None:
            for entry in [*event.stack[1:], ""]:
                cells = [""] * len(columns)
                cells[source] = source_text(entry, columns[source].width)
                out.append(line(cells))
    out.append(rule)
    out.append(f"Self CPU time total: {time_text(sum(event.self_cpu_time_total for event in events), time_unit)}")
    if any(event.self_device_time_total > 0 for event in events):
        out.append(f"Self {device} time total: {time_text(time_of_devices(events), time_unit)}")
    return "\n".join(out) + "\n"


def has_parent(event: Any) -> bool:
    known = getattr(event, "has_parent", None)
    return event.cpu_parent is not None if known is None else bool(known)
