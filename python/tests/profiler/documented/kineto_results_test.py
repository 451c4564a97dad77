"""What lies beneath events(): `prof.profiler`, its `kineto_results` and the tree of events."""

from __future__ import annotations

import json
import pathlib
from types import ModuleType
from typing import Any, Iterator, List

import pytest
from documented.asking import CPU, named, only, recorded, since, torch, with_kineto

pytestmark = pytest.mark.filterwarnings("ignore")


def work() -> None:
    with torch.profiler.record_function("mine"):
        torch.mm(torch.ones(2, 3), torch.ones(3, 4))


def raw(prof: Any, name: str) -> Any:
    (event,) = (event for event in prof.profiler.kineto_results.events() if event.name() == name)
    return event


def nodes(roots: List[Any]) -> Iterator[Any]:
    for node in roots:
        yield node
        yield from nodes(node.children)


def node_of(prof: Any, name: str) -> Any:
    (node,) = (node for node in nodes(prof.profiler.kineto_results.experimental_event_tree()) if node.name == name)
    return node


def test_there_is_no_inner_profiler_before_the_start(profiler: ModuleType) -> None:
    assert profiler.profile(activities=[CPU]).profiler is None


def test_inner_profiler_has_no_results_while_it_records(profiler: ModuleType) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        assert prof.profiler.kineto_results is None


def test_inner_profiler_has_the_events(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    assert prof.profiler.function_events is prof.events()


def test_inner_profiler_has_averages(profiler: ModuleType) -> None:
    (row,) = (row for row in recorded(profiler, work).profiler.key_averages() if row.key == "aten::mm")
    assert row.count == 1


def test_inner_profiler_sums_times(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    assert prof.profiler.self_cpu_time_total == pytest.approx(sum(event.self_cpu_time_total for event in prof.events()))


def test_inner_profiler_prints_a_table(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    assert "aten::mm" in prof.profiler.table(row_limit=50)


def test_text_of_the_inner_profiler_is_the_table(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    assert str(prof.profiler) == prof.events().table()


def test_total_average_of_the_inner_profiler(profiler: ModuleType) -> None:
    assert recorded(profiler, work).profiler.total_average().key == "Total"


def test_switches_of_the_inner_profiler(profiler: ModuleType) -> None:
    inner = recorded(profiler, work, with_flops=True).profiler
    assert (inner.record_shapes, inner.with_flops, inner.with_stack) == (True, True, False)


def test_raw_events_have_the_names_of_ops(profiler: ModuleType) -> None:
    names = [event.name() for event in recorded(profiler, work).profiler.kineto_results.events()]
    assert {"aten::mm", "mine"} <= set(names)


def test_raw_event_has_shapes(profiler: ModuleType) -> None:
    event = raw(recorded(profiler, work, record_shapes=True), "aten::mm")
    assert event.shapes() == [[2, 3], [3, 4]]


def test_raw_event_has_types(profiler: ModuleType) -> None:
    assert raw(recorded(profiler, work, record_shapes=True), "aten::mm").dtypes() == ["float", "float"]


@since(2, 4)
def test_raw_event_has_the_times_of_the_event(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    event = only(prof.events(), "aten::mm")
    begin = raw(prof, "aten::mm").start_ns() - prof.profiler.kineto_results.trace_start_ns()
    assert begin / 1000 == pytest.approx(event.time_range.start)


def test_raw_event_has_the_id_of_the_event(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    assert raw(prof, "aten::mm").correlation_id() == only(prof.events(), "aten::mm").id


def test_raw_event_of_memory_has_bytes(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: torch.empty(6), profile_memory=True)
    sizes = [event.nbytes() for event in prof.profiler.kineto_results.events() if event.name() == "[memory]"]
    assert sizes == [24, -24]


@with_kineto
def test_results_save_a_trace(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, work)
    prof.profiler.kineto_results.save(str(tmp_path / "trace.json"))
    written = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert "aten::mm" in {event["name"] for event in written}


def test_tree_has_the_range_as_its_root(profiler: ModuleType) -> None:
    roots = recorded(profiler, work).profiler.kineto_results.experimental_event_tree()
    assert [node.name for node in roots if node.name == "mine"] == ["mine"]


def test_node_has_its_parent(profiler: ModuleType) -> None:
    assert node_of(recorded(profiler, work), "aten::mm").parent.name == "mine"


def test_node_of_an_op_is_tagged(profiler: ModuleType) -> None:
    assert node_of(recorded(profiler, work), "aten::mm").tag == torch._C._profiler._EventType.TorchOp


@since(2, 1)
def test_node_has_its_inputs(profiler: ModuleType) -> None:
    inputs = node_of(recorded(profiler, work, record_shapes=True), "aten::mm").extra_fields.inputs
    assert [tensor.sizes for tensor in inputs] == [[2, 3], [3, 4]]


def test_node_of_a_range_has_its_scope(profiler: ModuleType) -> None:
    scope = node_of(recorded(profiler, work), "mine").extra_fields.scope
    assert scope == torch._C._profiler.RecordScope.USER_SCOPE


def test_allocations_are_nodes(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: torch.empty(6), profile_memory=True)
    tree = prof.profiler.kineto_results.experimental_event_tree()
    tag = torch._C._profiler._EventType.Allocation
    assert [node.extra_fields.alloc_size for node in nodes(tree) if node.tag == tag] == [24, -24]


def test_python_calls_are_nodes(profiler: ModuleType) -> None:
    prof = recorded(profiler, work, with_stack=True)
    tree = prof.profiler.kineto_results.experimental_event_tree()
    calls = [node for node in nodes(tree) if node.tag == torch._C._profiler._EventType.PyCall]
    assert "work" in {node.extra_fields.callsite.function_name for node in calls}


@since(2, 7)
def test_there_are_no_stats_before_the_start(profiler: ModuleType) -> None:
    assert profiler.profile(activities=[CPU])._stats() is None


@since(2, 7)
def test_stats_count_the_events(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    count = len(prof.events())
    assert prof._stats().number_of_events == count


@since(2, 7)
def test_stats_are_those_of_the_inner_profiler(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    assert prof.profiler._stats is prof._stats()


@since(2, 7)
def test_stats_have_the_length_of_the_window(profiler: ModuleType) -> None:
    stats = recorded(profiler, work)._stats()
    assert stats.profiling_window_duration_sec > 0
    assert stats.profiler_prepare_call_duration_us >= 0
    assert stats.profiler_disable_call_duration_us >= 0


@since(2, 7)
def test_stats_have_the_time_of_parsing(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    prof.events()
    assert prof._stats().parse_kineto_call_duration_us >= 0
    assert prof._stats().function_events_build_tree_call_duration_us >= 0


@since(2, 1)
def test_memory_profile_of_pytorch_reads_the_results(profiler: ModuleType) -> None:
    from torch.profiler._memory_profiler import MemoryProfile

    prof = recorded(profiler, work, record_shapes=True, profile_memory=True, with_stack=True)
    assert len(MemoryProfile(prof.profiler.kineto_results).timeline) > 0


def test_named_events_are_found(profiler: ModuleType) -> None:
    assert len(named(recorded(profiler, work).profiler.function_events, "aten::ones")) == 2
