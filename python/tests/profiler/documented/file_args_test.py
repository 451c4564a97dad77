"""Arguments of the events of a Chrome trace."""

from __future__ import annotations

import pathlib
from types import ModuleType
from typing import List

import pytest
from documented.asking import Trace, args_of, config, exported, of_category, only, recorded, since, slices, torch

pytestmark = pytest.mark.filterwarnings("ignore")
SHAPES = {"Input Dims", "Input type", "Concrete Inputs"}


def work() -> None:
    torch.neg(torch.ones(2, 3))


def train() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    (x * 2).sum().backward()


def test_every_op_has_an_external_id(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    ops = of_category(exported(recorded(profiler, work), tmp_path), "cpu_op")
    ids = [op["args"]["External id"] for op in ops]
    assert len(ids) == len(set(ids)) == 4


def test_external_id_is_the_id_of_the_event(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, work)
    written = {op["args"]["External id"]: op["name"] for op in of_category(exported(prof, tmp_path), "cpu_op")}
    assert written == {event.id: event.name for event in prof.events()}


def test_events_are_numbered(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, work, profile_memory=True), tmp_path)
    numbers = [event["args"]["Ev Idx"] for event in trace["traceEvents"] if event.get("cat", "").startswith("cpu_")]
    assert sorted(numbers) == list(range(len(numbers)))


@since(2, 2)
def test_record_function_id_without_an_observer(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    ops = of_category(exported(recorded(profiler, work), tmp_path), "cpu_op")
    assert {op["args"]["Record function id"] for op in ops} == {0}


@since(2, 2)
def test_record_function_id_with_an_observer(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    observer = profiler.ExecutionTraceObserver().register_callback(str(tmp_path / "et.json"))
    prof = recorded(profiler, work, execution_trace_observer=observer)
    ids = [op["args"]["Record function id"] for op in of_category(exported(prof, tmp_path), "cpu_op")]
    assert 0 not in ids and len(ids) == len(set(ids))


def test_shapes_of_an_op(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, lambda: torch.mm(torch.ones(2, 3), torch.ones(3, 4)), record_shapes=True)
    assert args_of(exported(prof, tmp_path), "aten::mm")["Input Dims"] == [[2, 3], [3, 4]]


def test_types_of_an_op(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, lambda: torch.mm(torch.ones(2, 3), torch.ones(3, 4)), record_shapes=True)
    assert args_of(exported(prof, tmp_path), "aten::mm")["Input type"] == ["float", "float"]


@since(2, 2)
def test_strides_of_an_op(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.ones(4, 3)
    prof = recorded(profiler, lambda: torch.mm(x.t(), x), record_shapes=True)
    assert args_of(exported(prof, tmp_path), "aten::mm")["Input Strides"] == [[1, 3], [3, 1]]


@since(2, 2)
def test_values_of_an_op(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.ones(2, 3)
    prof = recorded(profiler, lambda: torch.transpose(x, 0, 1), record_shapes=True)
    assert args_of(exported(prof, tmp_path), "aten::transpose")["Concrete Inputs"] == ["", "0", "1"]


@since(2, 2)
def test_values_of_a_list(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.ones(2, 3)
    prof = recorded(profiler, lambda: x.view([3, 2]), record_shapes=True)
    args = args_of(exported(prof, tmp_path), "aten::view")
    assert (args["Concrete Inputs"], args["Input type"]) == (["", "[3, 2]"], ["float", "ScalarList"])


def test_no_shapes_without_record_shapes(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    ops = of_category(exported(recorded(profiler, work), tmp_path), "cpu_op")
    assert not any(SHAPES & set(op["args"]) for op in ops)


@since(2, 4)
def test_sequence_number_is_that_of_the_event(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, train)
    args = args_of(exported(prof, tmp_path), "MulBackward0")
    assert args["Sequence number"] == only(prof.events(), "MulBackward0").sequence_nr


@since(2, 4)
def test_gradient_has_the_number_of_its_op(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, train), tmp_path)
    forward = slices(trace, "aten::mul")[0]["args"]
    assert args_of(trace, "MulBackward0")["Sequence number"] == forward["Sequence number"]


@since(2, 4)
def test_gradient_has_the_thread_of_its_op(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, train), tmp_path)
    assert slices(trace, "aten::mul")[0]["args"]["Fwd thread id"] == 0
    assert args_of(trace, "MulBackward0")["Fwd thread id"] > 0


@since(2, 4)
def test_op_without_a_gradient_has_no_sequence_number(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    args = args_of(exported(recorded(profiler, lambda: torch.empty(2)), tmp_path), "aten::empty")
    assert not {"Sequence number", "Fwd thread id"} & set(args)


@since(2, 4)
def test_overload_in_the_name(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.ones(2)
    prof = recorded(profiler, lambda: torch.add(x, x), experimental_config=config(capture_overload_names=True))
    assert slices(exported(prof, tmp_path), "aten::add.Tensor")


def memory(profiler: ModuleType, folder: pathlib.Path) -> List[Trace]:
    def keep() -> None:
        first, second = torch.empty(6), torch.empty(10)
        del first
        del second

    return of_category(exported(recorded(profiler, keep, profile_memory=True), folder), "cpu_instant_event")


def test_fields_of_memory_events(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    events = memory(profiler, tmp_path)
    wanted = {"Total Reserved", "Total Allocated", "Bytes", "Device Id", "Device Type", "Addr", "Ev Idx"}
    assert [wanted - set(event["args"]) for event in events] == [set()] * 4


def test_shape_of_memory_events(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    kinds = {(event["name"], event["ph"], event["s"]) for event in memory(profiler, tmp_path)}
    assert kinds == {("[memory]", "i", "t")}


def test_device_of_memory_events(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    devices = {(event["args"]["Device Type"], event["args"]["Device Id"]) for event in memory(profiler, tmp_path)}
    assert devices == {(0, -1)}


def test_bytes_and_totals_of_memory_events(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    told = [(event["args"]["Bytes"], event["args"]["Total Allocated"]) for event in memory(profiler, tmp_path)]
    first = told[0][1] - told[0][0]
    assert [(size, total - first) for size, total in told] == [(24, 24), (40, 64), (-24, 40), (-40, 0)]


def test_memory_is_freed_at_its_address(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    first, second, *freed = (event["args"]["Addr"] for event in memory(profiler, tmp_path))
    assert freed == [first, second] and first != second


@pytest.mark.skipif(not getattr(torch.distributed, "is_gloo_available", bool)(), reason="this PyTorch has no gloo")
@since(2, 4)
def test_groups_of_processes_are_metadata(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    try:
        told = exported(recorded(profiler, work), tmp_path)["distributedInfo"]
    finally:
        torch.distributed.destroy_process_group()
    assert (told["backend"], told["rank"], told["world_size"], told["pg_count"]) == ("gloo", 0, 1, 1)
