"""What lies beneath the results, in torch.profiler's form: ``prof.profiler`` and its ``kineto_results``."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from stepscope.profiler._results import ProfilerStats, Results

MEMORY_NAME = "[memory]"
FIELDS: dict[str, tuple[str, Any]] = {
    "shapes": ("input_shapes", []),
    "dtypes": ("input_dtypes", []),
    "concrete_inputs": ("concrete_inputs", []),
    "structured_input_shapes": ("structured_input_shapes", []),
    "structured_input_strides": ("structured_input_strides", []),
    "kwinputs": ("kwinputs", {}),
    "overload_name": ("overload_name", ""),
    "correlation_id": ("id", 0),
    "linked_correlation_id": ("linked_correlation_id", 0),
    "external_id": ("external_id", 0),
    "activity_type": ("activity_type", ""),
    "device_type": ("device_type", 0),
    "device_index": ("device_index", -1),
    "device_resource_id": ("device_resource_id", 0),
    "start_thread_id": ("thread", 0),
    "end_thread_id": ("thread", 0),
    "fwd_thread_id": ("fwd_thread", 0),
    "is_async": ("is_async", False),
    "is_user_annotation": ("is_user_annotation", False),
    "is_python_function": ("is_python_function", False),
    "python_id": ("python_id", -1),
    "python_parent_id": ("python_parent_id", -1),
    "python_module_id": ("python_module_id", -1),
    "scope": ("scope", 0),
    "sequence_nr": ("sequence_nr", -1),
    "stack": ("stack", []),
    "flops": ("flops", 0),
    "flow_id": ("flow_id", 0),
    "flow_type": ("flow_type", 0),
    "flow_start": ("flow_start", False),
}
"""Per method of a raw event, the attribute of a FunctionEvent, and the value where events have none."""


class RawEvent:
    """An event whose fields are methods. Times are in ns since 1970."""

    def __init__(self, event: Any, began_ns: int) -> None:
        self._event = event
        self._began_ns = began_ns

    def name(self) -> str:
        return self._event.trace_name or str(self._event.name)

    def start_ns(self) -> int:
        return self._began_ns + int(round(self._event.time_range.start * 1000))

    def end_ns(self) -> int:
        return self._began_ns + int(round(self._event.time_range.end * 1000))

    def duration_ns(self) -> int:
        return self.end_ns() - self.start_ns()

    def nbytes(self) -> int:
        """Of a memory event; negative when freed."""
        return int(self._event.cpu_memory_usage or self._event.device_memory_usage) if self._event.name == MEMORY_NAME else 0

    def __getattr__(self, method: str) -> Callable[[], Any]:
        if method not in FIELDS:
            raise AttributeError(f"events have no method {method!r}")
        value = getattr(self._event, *FIELDS[method])
        return lambda: value


class TensorInput(NamedTuple):
    """A tensor that an op was given."""

    sizes: list[int]
    strides: list[int]
    dtype: str


class OpFields(NamedTuple):
    name: str
    inputs: list[Any]
    scope: Any
    sequence_number: int
    allow_tf32_cublas: bool = False


class AllocationFields(NamedTuple):
    alloc_size: int


class CallSite(NamedTuple):
    file_name: str
    line_number: int
    function_name: str


class CallFields(NamedTuple):
    callsite: CallSite


class Node:
    """An event in the tree of events, with its parent and children."""

    def __init__(self, event: Any, raw: RawEvent, parent: Node | None) -> None:
        import torch

        kinds = torch._C._profiler
        self.name, self.overload_name, self.correlation_id = raw.name(), event.overload_name, event.id
        self.start_tid, self.start_time_ns, self.end_time_ns = event.thread, raw.start_ns(), raw.end_ns()
        self.duration_time_ns = raw.duration_ns()
        self.parent = parent
        self.children: list[Node] = []
        self.extra_fields: Any
        if event.name == MEMORY_NAME:
            self.tag, self.extra_fields = kinds._EventType.Allocation, AllocationFields(raw.nbytes())
        elif raw.is_python_function():
            self.tag, self.extra_fields = kinds._EventType.PyCall, CallFields(call_site(self.name))
        else:
            self.tag = kinds._EventType.TorchOp
            self.extra_fields = OpFields(self.name, inputs_of(raw), kinds.RecordScope(event.scope), event.sequence_nr)
        if parent is not None:
            parent.children.append(self)


def inputs_of(raw: RawEvent) -> list[Any]:
    """An op's inputs: tensors as TensorInput, others as their value, None if it is not known."""
    out: list[Any] = []
    types, strides, values = raw.dtypes(), raw.structured_input_strides(), raw.concrete_inputs()
    for i, sizes in enumerate(raw.shapes()):
        kind = types[i] if i < len(types) else ""
        if sizes or kind not in ("", "Scalar", "ScalarList", "TensorList"):
            out.append(TensorInput(sizes, strides[i] if i < len(strides) else [], kind))
        else:
            out.append(values[i] if i < len(values) else None)
    return out


def call_site(name: str) -> CallSite:
    """Of a call's name, ``FILE(LINE): FUNCTION``."""
    place, _, function = name.rpartition("): ")
    file, _, line = place.rpartition("(")
    return CallSite(file, int(line), function) if line.isdigit() else CallSite("", 0, name)


class KinetoResults:
    """The events of the last cycles, with torch.profiler's names of methods."""

    def __init__(self, prof: Results) -> None:
        self._prof = prof

    @cached_property
    def _events(self) -> list[RawEvent]:
        return [RawEvent(event, self.trace_start_ns()) for event in self._prof.events()]

    def trace_start_ns(self) -> int:
        """When the recording began, in ns since 1970."""
        return self._prof._began_ns

    def events(self) -> list[RawEvent]:
        return list(self._events)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the trace, as ``export_chrome_trace`` does."""
        self._prof.export_chrome_trace(path)

    def experimental_event_tree(self) -> list[Node]:
        """The outermost events, each with its children. Needs PyTorch."""
        nodes: dict[int, Node] = {}
        for raw in self._events:  # by begin, so that parents come first
            event = raw._event
            parent = event.cpu_parent
            nodes[event.id] = Node(event, raw, None if parent is None else nodes.get(parent.id))
        return [node for node in nodes.values() if node.parent is None]


class InnerProfiler:
    """``prof.profiler``: the profiler's results under the names that torch.profiler has there."""

    def __init__(self, prof: Results) -> None:
        self._prof = prof

    def __getattr__(self, name: str) -> Any:
        if name == "_prof":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._prof, name)

    def __str__(self) -> str:
        return self._prof.events().table() if self.kineto_results is not None else repr(self)

    @property
    def record_shapes(self) -> bool:
        """Whether shapes are recorded; FLOPs need them, too."""
        return bool(self._prof.record_shapes or self._prof.with_flops)

    @property
    def _stats(self) -> ProfilerStats | None:
        return self._prof._stats()

    @property
    def kineto_results(self) -> KinetoResults | None:
        """None while the profiler records."""
        return None if self._prof._on is not None else KinetoResults(self._prof)
