"""``FunctionEvent`` and ``FunctionEventAvg``: one op or range, and all of one kind. Times are in µs, sizes in bytes."""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

from stepscope.profiler._rows import USER_SCOPE, Rows
from stepscope.profiler._units import time_text


def device_type(on_device: bool) -> Any:
    """PyTorch's ``DeviceType.CPU`` or ``.CUDA``; the number if PyTorch is not imported."""
    torch = sys.modules.get("torch")
    return torch.autograd.DeviceType(int(on_device)) if torch is not None else int(on_device)


def older_name(name: str, now: str) -> Any:
    def get(self: Any) -> Any:
        warnings.warn(f"`{name}` is deprecated, use `{now}`", FutureWarning, stacklevel=2)
        return getattr(self, now)

    return property(get)


class Interval(NamedTuple):
    """Begin and end, in µs."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        return self.end - self.start


class Kernel(NamedTuple):
    """Device work of an op; ``duration`` is in µs."""

    name: str
    device: int
    duration: float


class Measured:
    """Means and texts derived from an event's count, times and sizes, and their deprecated names."""

    __slots__ = ()

    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    device_time_total: float
    self_device_time_total: float
    device_memory_usage: int
    self_device_memory_usage: int

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        return self.device_time_total / self.count if self.count else 0.0

    cpu_time_str = property(lambda self: time_text(self.cpu_time))
    cpu_time_total_str = property(lambda self: time_text(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: time_text(self.self_cpu_time_total))
    device_time_str = property(lambda self: time_text(self.device_time))
    device_time_total_str = property(lambda self: time_text(self.device_time_total))
    self_device_time_total_str = property(lambda self: time_text(self.self_device_time_total))

    cuda_time = older_name("cuda_time", "device_time")
    cuda_time_total = older_name("cuda_time_total", "device_time_total")
    self_cuda_time_total = older_name("self_cuda_time_total", "self_device_time_total")
    cuda_memory_usage = older_name("cuda_memory_usage", "device_memory_usage")
    self_cuda_memory_usage = older_name("self_cuda_memory_usage", "self_device_memory_usage")


class FunctionEvent(Measured):
    """One op, range, CUDA call or piece of device work. Attributes are computed on access."""

    __slots__ = ("_events", "_row", "_rows", "self_cpu_percent", "total_cpu_percent", "total_device_percent")

    count = 1
    node_id = -1
    is_remote = is_legacy = False
    metadata_json: str | None = None
    metadata: dict[str, Any] | None = None
    is_python_function = False
    python_id = python_parent_id = python_module_id = -1
    linked_correlation_id = 0

    def __init__(self, rows: Rows, row: int, events: list[FunctionEvent]) -> None:
        self._rows = rows
        self._row = row
        self._events = events
        self.self_cpu_percent = self.total_cpu_percent = self.total_device_percent = -1.0

    def _of(self, column: str) -> int:
        return self._rows.columns[column][self._row]

    @property
    def id(self) -> int:
        return self._row + 1

    @property
    def external_id(self) -> int:
        return 0 if self._on_device else self.id

    @property
    def activity_type(self) -> str | None:
        """None for device work, whose kinds are not told apart here."""
        if self._on_device:
            return None
        return "user_annotation" if self.is_user_annotation else "cpu_op"

    @property
    def event_metadata(self) -> None:
        warnings.warn("`event_metadata` is deprecated, use `metadata`", FutureWarning, stacklevel=2)

    @property
    def flow_id(self) -> int:
        """The number of the arrow between an op and its backward pass; 0: none."""
        return self._rows.flows.get(self._row, (0, False))[0]

    @property
    def flow_type(self) -> int:
        return int(self.flow_id > 0)

    @property
    def flow_start(self) -> bool:
        return self._rows.flows.get(self._row, (0, False))[1]

    @property
    def name(self) -> str:
        return self._rows.texts[self._of("name")]

    @property
    def key(self) -> str:
        return self.name

    @property
    def trace_name(self) -> str | None:
        """None for memory that changed outside of ops, as in PyTorch."""
        name = self._rows.texts[self._of("trace_name")]
        return None if name == "[memory]" else name

    @property
    def overload_name(self) -> str:
        overload = self._of("overload")
        return "" if overload < 0 else self._rows.texts[overload]

    @property
    def time_range(self) -> Interval:
        return Interval(self._of("begin_ns") / 1000, self._of("end_ns") / 1000)

    @property
    def thread(self) -> int:
        return self._of("thread")

    @property
    def use_device(self) -> str | None:
        return self._rows.use_device

    @property
    def device_index(self) -> int:
        return self._of("device")

    @property
    def device_resource_id(self) -> int:
        """The stream; for events on the host, the thread."""
        return self._of("stream" if self._on_device else "thread")

    @property
    def fwd_thread(self) -> int:
        return self._of("forward_thread")

    @property
    def kernels(self) -> list[Kernel]:
        """The device work that the op launched, including copies and fills."""
        work = (self._events[row] for row in self._rows.launched.get(self._row, ()))
        return [Kernel(event.name, event.device_index, event.device_time_total) for event in work]

    @property
    def kwinputs(self) -> dict[str, Any]:
        return dict(self._rows.told.keywords[self._of("inputs")])

    @property
    def cpu_parent(self) -> FunctionEvent | None:
        parent = self._of("parent")
        return None if parent < 0 else self._events[parent]

    @property
    def cpu_children(self) -> list[FunctionEvent]:
        return [self._events[row] for row in self._rows.children.get(self._row, ())]

    @property
    def input_shapes(self) -> list[Any]:
        return self._rows.told.shapes[self._of("inputs")]

    @property
    def structured_input_shapes(self) -> list[Any]:
        return self._rows.told.structured_shapes[self._of("inputs")]

    @property
    def structured_input_strides(self) -> list[Any]:
        return self._rows.told.strides[self._of("inputs")]

    @property
    def input_dtypes(self) -> list[str]:
        return self._rows.told.types[self._of("inputs")]

    @property
    def concrete_inputs(self) -> list[Any]:
        return self._rows.concrete_inputs[self._of("inputs")]

    @property
    def stack(self) -> list[str]:
        return self._rows.stacks[self._of("stack")]

    @property
    def scope(self) -> int:
        return self._of("scope")

    @property
    def is_user_annotation(self) -> bool:
        return self._of("scope") == USER_SCOPE

    @property
    def is_async(self) -> bool:
        return bool(self._of("is_async"))

    @property
    def sequence_nr(self) -> int:
        return self._of("sequence")

    @property
    def _on_device(self) -> bool:
        return self._of("device") >= 0

    @property
    def device_type(self) -> Any:
        return device_type(self._on_device)

    @property
    def flops(self) -> int:
        return self._of("flops")

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        return 0.0 if self._on_device else (self._of("end_ns") - self._of("begin_ns")) / 1000

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        return self._of("self_ns") / 1000

    @property
    def device_time_total(self) -> float:  # type: ignore[override]
        return self._of("device_ns") / 1000

    @property
    def self_device_time_total(self) -> float:  # type: ignore[override]
        return self._of("self_device_ns") / 1000

    @property
    def cpu_memory_usage(self) -> int:
        return self._of("cpu_bytes")

    @property
    def self_cpu_memory_usage(self) -> int:
        return self._of("self_cpu_bytes")

    @property
    def device_memory_usage(self) -> int:  # type: ignore[override]
        return self._of("device_bytes")

    @property
    def self_device_memory_usage(self) -> int:  # type: ignore[override]
        return self._of("self_device_bytes")

    def __repr__(self) -> str:
        times, device = self.time_range, self.use_device
        fields = {
            "id": self.id, "name": self.name, "overload_name": self.overload_name, "device_type": self.device_type, "node_id": self.node_id,
            "cpu_time": time_text(self.cpu_time), "start_us": times.start, "end_us": times.end,
            "cpu_children": [child.id for child in self.cpu_children], f"{device}_time": time_text(self.device_time),
        }  # fmt: skip
        more = {
            "name": self.name, "thread": self.thread, "input_shapes": self.input_shapes, "cpu_memory_usage": self.cpu_memory_usage,
            f"{device}_memory_usage": self.device_memory_usage, "is_async": self.is_async, "is_remote": self.is_remote,
            "seq_nr": self.sequence_nr, "is_legacy": self.is_legacy,
        }  # fmt: skip
        return f"<FunctionEvent {' '.join(f'{key}={value}' for part in (fields, more) for key, value in part.items())}>"


SUMS = (
    "count", "cpu_time_total", "device_time_total", "self_cpu_time_total", "self_device_time_total", "cpu_memory_usage",
    "device_memory_usage", "self_cpu_memory_usage", "self_device_memory_usage", "flops",
)  # fmt: skip


class FunctionEventAvg(Measured):
    """All events of one kind, summed; attributes that cannot be summed are the first event's."""

    def __init__(self, key: str = "") -> None:
        self.key = key
        self.count = 0
        self.node_id = -1
        self.is_async = self.is_remote = self.is_legacy = self.is_user_annotation = False
        self.use_device: str | None = None
        self.cpu_time_total = self.device_time_total = self.self_cpu_time_total = self.self_device_time_total = 0.0
        self.cpu_memory_usage = self.device_memory_usage = self.self_cpu_memory_usage = self.self_device_memory_usage = 0
        self.input_shapes: Any = ""
        self.overload_name = ""
        self.stack: list[str] = []
        self.scope: int | None = None
        self.device_type: Any = device_type(False)
        self.flops = 0
        self.has_parent = False
        self.self_cpu_percent = self.total_cpu_percent = self.total_device_percent = -1.0
        self._first: FunctionEvent | None = None

    @property
    def cpu_parent(self) -> FunctionEvent | None:
        """That of the first event."""
        return None if self._first is None else self._first.cpu_parent

    @property
    def cpu_children(self) -> list[FunctionEvent]:
        """That of the first event."""
        return [] if self._first is None else self._first.cpu_children

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        for name in SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def __iadd__(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        return self.add(other)

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f"self_device_time={self.self_device_time_total_str} device_time={self.device_time_str} count={self.count} input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}>"
        )
