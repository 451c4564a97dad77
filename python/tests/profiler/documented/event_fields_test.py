"""Attributes of events that came with PyTorch 2.15."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any, List

import pytest
from documented.asking import config, exported, named, only, recorded, since, slices, torch

pytestmark = [pytest.mark.filterwarnings("ignore"), since(2, 15)]


def work() -> None:
    with torch.profiler.record_function("mine"):
        torch.mm(torch.ones(2, 3), torch.ones(3, 4))


def train() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    (x * 2).sum().backward()


def helper() -> None:
    torch.neg(torch.ones(2))


def calls() -> None:
    helper()


def called(prof: Any, name: str) -> Any:
    (event,) = (event for event in prof.events() if event.is_python_function and event.name.endswith(": " + name))
    return event


def test_activity_type_of_an_op(profiler: ModuleType) -> None:
    assert only(recorded(profiler, work).events(), "aten::mm").activity_type == "cpu_op"


def test_activity_type_of_a_range(profiler: ModuleType) -> None:
    assert only(recorded(profiler, work).events(), "mine").activity_type == "user_annotation"


def test_activity_type_of_a_python_call(profiler: ModuleType) -> None:
    assert called(recorded(profiler, calls, with_stack=True), "helper").activity_type == "python_function"


def test_external_id_of_an_op_is_its_id(profiler: ModuleType) -> None:
    event = only(recorded(profiler, work).events(), "aten::mm")
    assert event.external_id == event.id > 0


def test_external_id_is_that_of_the_file(profiler: ModuleType, tmp_path: Any) -> None:
    prof = recorded(profiler, work)
    (written,) = slices(exported(prof, tmp_path), "aten::mm")
    assert written["args"]["External id"] == only(prof.events(), "aten::mm").external_id


def test_linked_correlation_id_without_a_device(profiler: ModuleType) -> None:
    assert {event.linked_correlation_id for event in recorded(profiler, work).events()} == {0}


def test_input_types(profiler: ModuleType) -> None:
    events = recorded(profiler, work, record_shapes=True).events()
    assert only(events, "aten::mm").input_dtypes == ["float", "float"]


def test_input_types_of_values(profiler: ModuleType) -> None:
    x = torch.ones(2, 3)
    events = recorded(profiler, lambda: x.sum([0, 1], keepdim=True), record_shapes=True).events()
    assert only(events, "aten::sum").input_dtypes == ["float", "ScalarList", "Scalar", ""]


def test_input_types_need_record_shapes(profiler: ModuleType) -> None:
    assert only(recorded(profiler, work).events(), "aten::mm").input_dtypes == []


def test_structured_shapes(profiler: ModuleType) -> None:
    events = recorded(profiler, work, record_shapes=True).events()
    assert only(events, "aten::mm").structured_input_shapes == [[2, 3], [3, 4]]


def concatenated(profiler: ModuleType) -> Any:
    first, second = torch.ones(2, 3), torch.ones(1, 3)
    return only(recorded(profiler, lambda: torch.cat([first, second]), record_shapes=True).events(), "aten::cat")


def test_structured_shapes_of_a_list(profiler: ModuleType) -> None:
    assert concatenated(profiler).structured_input_shapes == [[[2, 3], [1, 3]], []]


def test_plain_shapes_of_a_list_are_empty(profiler: ModuleType) -> None:
    assert concatenated(profiler).input_shapes == [[], []]


def test_structured_strides_of_a_list(profiler: ModuleType) -> None:
    assert concatenated(profiler).structured_input_strides == [[[3, 1], [3, 1]], []]


def test_structured_strides_of_a_transposed_tensor(profiler: ModuleType) -> None:
    x = torch.ones(4, 3)
    events = recorded(profiler, lambda: torch.mm(x.t(), x), record_shapes=True).events()
    assert only(events, "aten::mm").structured_input_strides == [[1, 3], [3, 1]]


def test_flow_of_an_op_and_its_gradient(profiler: ModuleType) -> None:
    events = recorded(profiler, train).events()
    forward, backward = named(events, "aten::mul")[0], only(events, "MulBackward0")
    assert forward.flow_id == backward.flow_id > 0
    assert (forward.flow_type, backward.flow_type) == (1, 1)
    assert (forward.flow_start, backward.flow_start) == (True, False)


def test_op_without_a_gradient_has_no_flow(profiler: ModuleType) -> None:
    event = only(recorded(profiler, work).events(), "aten::mm")
    assert (event.flow_id, event.flow_start) == (0, False)


def test_metadata_of_an_op(profiler: ModuleType) -> None:
    asked = config(expose_kineto_event_metadata=True)
    event = only(recorded(profiler, work, experimental_config=asked).events(), "aten::mm")
    assert event.metadata is None


def test_event_metadata_is_deprecated(profiler: ModuleType) -> None:
    event = only(recorded(profiler, work).events(), "aten::mm")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert event.event_metadata is None
    assert [warning.category for warning in caught] == [FutureWarning]


def test_python_calls_are_events(profiler: ModuleType) -> None:
    assert called(recorded(profiler, calls, with_stack=True), "helper").is_python_function


def test_python_calls_need_stacks(profiler: ModuleType) -> None:
    assert not any(event.is_python_function for event in recorded(profiler, calls).events())


def test_ops_are_no_python_calls(profiler: ModuleType) -> None:
    assert not only(recorded(profiler, work, with_stack=True).events(), "aten::mm").is_python_function


def test_name_of_a_python_call(profiler: ModuleType) -> None:
    place, _, name = called(recorded(profiler, calls, with_stack=True), "helper").name.partition(": ")
    assert place.endswith(f"event_fields_test.py({helper.__code__.co_firstlineno})")
    assert name == "helper"


def test_functions_written_in_c_are_events(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: len([]), with_stack=True).events()
    assert "<built-in function len>" in {event.name for event in events}


def test_python_call_has_the_id_of_its_caller(profiler: ModuleType) -> None:
    prof = recorded(profiler, calls, with_stack=True)
    assert called(prof, "helper").python_parent_id == called(prof, "calls").python_id > 0


def test_op_has_no_python_id(profiler: ModuleType) -> None:
    event = only(recorded(profiler, work, with_stack=True).events(), "aten::mm")
    assert (event.python_id, event.python_parent_id, event.python_module_id) == (-1, -1, -1)


def modules(profiler: ModuleType) -> List[Any]:
    model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.ReLU())
    x = torch.ones(2)
    events = recorded(profiler, lambda: model(x), with_stack=True).events()
    return [event for event in events if event.name.startswith("nn.Module: ReLU")]


def test_modules_are_events(profiler: ModuleType) -> None:
    assert [event.name for event in modules(profiler)] == ["nn.Module: ReLU_0", "nn.Module: ReLU_1"]


def test_modules_of_a_class_are_numbered(profiler: ModuleType) -> None:
    assert [event.python_module_id for event in modules(profiler)] == [0, 1]


def test_op_is_a_child_of_the_python_call(profiler: ModuleType) -> None:
    parent = only(recorded(profiler, calls, with_stack=True).events(), "aten::neg").cpu_parent
    names = []
    while parent is not None:
        names.append(parent.name.rpartition(": ")[2])
        parent = parent.cpu_parent
    assert names.index("helper") < names.index("calls")


def test_averages_have_no_python_calls(profiler: ModuleType) -> None:
    rows = recorded(profiler, calls, with_stack=True).key_averages()
    assert not any(row.key.endswith(": helper") for row in rows)


def test_averages_with_python_calls(profiler: ModuleType) -> None:
    rows = recorded(profiler, calls, with_stack=True).key_averages(include_python_functions=True)
    assert [row.count for row in rows if row.key.endswith(": helper")] == [1]
