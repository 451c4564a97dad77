"""Stacks of ops and Python calls, recorded with `with_stack`."""

from __future__ import annotations

import pathlib
from types import ModuleType
from typing import Any, Callable, List

import pytest
from documented.asking import Trace, args_of, config, exported, of_category, only, recorded, since, slices, torch

pytestmark = pytest.mark.filterwarnings("ignore")


def helper() -> None:
    torch.neg(torch.ones(2))


def calls() -> None:
    helper()


class Worker:
    def method(self) -> None:
        torch.neg(torch.ones(2))


def stacked(profiler: ModuleType, work: Callable[[], Any] = calls) -> Any:
    return recorded(profiler, work, with_stack=True, experimental_config=config(verbose=True))


def functions(stack: List[str]) -> List[str]:
    """Names of the functions of this file in a stack."""
    return [entry.rpartition(": ")[2] for entry in stack if "call_stacks_test.py(" in entry]


def call(trace: Trace, name: str) -> Trace:
    (event,) = (event for event in of_category(trace, "python_function") if event["name"].endswith(": " + name))
    return event


def test_stack_of_an_op_begins_with_the_innermost_call(profiler: ModuleType) -> None:
    stack = only(stacked(profiler).events(), "aten::neg").stack
    assert functions(stack)[:2] == ["helper", "calls"]


def test_entry_has_file_line_and_function(profiler: ModuleType) -> None:
    stack = only(stacked(profiler).events(), "aten::neg").stack
    (entry,) = (entry for entry in stack if entry.endswith(": helper"))
    assert entry.endswith(f"call_stacks_test.py({helper.__code__.co_firstlineno}): helper")


def test_entry_of_a_method_is_its_plain_name(profiler: ModuleType) -> None:
    stack = only(stacked(profiler, Worker().method).events(), "aten::neg").stack
    assert functions(stack)[0] == "method"


def test_entry_of_a_function_written_in_c(profiler: ModuleType) -> None:
    stack = only(stacked(profiler).events(), "aten::neg").stack
    assert stack[0].startswith("<built-in method neg of type object at ")


def test_no_stacks_without_with_stack(profiler: ModuleType) -> None:
    assert only(recorded(profiler, calls).events(), "aten::neg").stack == []


@since(2, 15)
def test_no_stacks_of_ops_unless_verbose(profiler: ModuleType) -> None:
    assert only(recorded(profiler, calls, with_stack=True).events(), "aten::neg").stack == []


def test_stack_of_a_gradient_is_that_of_its_op(profiler: ModuleType) -> None:
    x = torch.ones(2, requires_grad=True)
    made: List[Any] = []

    def forward() -> None:
        made.append((x * 2).sum())

    def train() -> None:
        forward()
        made.pop().backward()

    stack = only(stacked(profiler, train).events(), "MulBackward0").stack
    assert functions(stack)[0].rpartition(".")[2] == "forward"


def test_stack_has_the_modules(profiler: ModuleType) -> None:
    model, x = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)), torch.ones(1, 2)
    events = stacked(profiler, lambda: model(x)).events()
    stacks = [event.stack for event in events if event.name == "aten::addmm"]
    found = [[entry for entry in stack if entry.startswith("nn.Module: ")] for stack in stacks]
    assert found == [["nn.Module: Linear_0", "nn.Module: Sequential_0"], ["nn.Module: Linear_1", "nn.Module: Sequential_0"]]


@since(2, 2)
def test_stack_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    told = args_of(exported(stacked(profiler), tmp_path), "aten::neg")["Call stack"]
    assert functions(told.split(";"))[:2] == ["helper", "calls"]


def test_call_has_an_id_and_that_of_its_caller(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, calls, with_stack=True), tmp_path)
    assert call(trace, "helper")["args"]["Python parent id"] == call(trace, "calls")["args"]["Python id"]


def test_ids_of_calls_are_unique(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, calls, with_stack=True), tmp_path)
    ids = [event["args"]["Python id"] for event in of_category(trace, "python_function")]
    assert len(ids) == len(set(ids))


@since(2, 15)
def test_call_has_the_line_that_made_it(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, calls, with_stack=True), tmp_path)
    line = calls.__code__.co_firstlineno + 1
    assert call(trace, "helper")["args"]["CallFrom"].endswith(f"call_stacks_test.py:{line}")


def test_outermost_call_has_no_parent(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, calls, with_stack=True), tmp_path)
    parents = [event["args"].get("Python parent id") for event in of_category(trace, "python_function")]
    assert None in parents


def test_functions_written_in_c_are_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, lambda: len([]), with_stack=True), tmp_path)
    assert slices(trace, "<built-in function len>")


def test_modules_are_numbered_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    model, x = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)), torch.ones(1, 2)
    trace = exported(recorded(profiler, lambda: model(x), with_stack=True), tmp_path)
    numbers = [args_of(trace, f"nn.Module: Linear_{number}")["Python module id"] for number in range(2)]
    assert numbers == [0, 1]


def test_module_called_twice_keeps_its_number(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    model, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    trace = exported(recorded(profiler, lambda: [model(x), model(x)], with_stack=True), tmp_path)
    assert len(slices(trace, "nn.Module: Linear_0")) == 2


def stacks(prof: Any, folder: pathlib.Path, metric: str) -> List[List[str]]:
    path = folder / "stacks.txt"
    prof.export_stacks(str(path), metric)
    return [line.rpartition(" ")[0].split(";") for line in path.read_text().splitlines()]


def slow() -> None:
    torch.ones(500, 500).mm(torch.ones(500, 500))


def test_exported_stacks_begin_with_the_outermost_call(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    lines = stacks(stacked(profiler, slow), tmp_path, "self_cpu_time_total")
    assert any(line[-1].startswith("<built-in_method_mm") and line[-2].endswith(":_slow") for line in lines)


def test_exported_stacks_have_no_spaces(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    lines = stacks(stacked(profiler, slow), tmp_path, "self_cpu_time_total")
    assert lines and not any(" " in entry for line in lines for entry in line)


def test_exported_stacks_of_a_device_are_empty_without_one(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert stacks(stacked(profiler, slow), tmp_path, "self_cuda_time_total") == []


def test_exported_stacks_have_whole_numbers(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    stacked(profiler, slow).export_stacks(str(tmp_path / "stacks.txt"))
    assert all(line.rpartition(" ")[2].isdigit() for line in (tmp_path / "stacks.txt").read_text().splitlines())


def test_averages_are_grouped_by_stack(profiler: ModuleType) -> None:
    def work() -> None:
        helper()
        Worker().method()

    rows = stacked(profiler, work).key_averages(group_by_stack_n=3)
    assert [(row.count, len(row.stack)) for row in rows if row.key == "aten::neg"] == [(1, 3), (1, 3)]


def test_averages_have_no_stacks_unless_grouped_by_them(profiler: ModuleType) -> None:
    rows = stacked(profiler).key_averages()
    assert [row.stack for row in rows if row.key == "aten::neg"] == [[]]


def test_table_has_a_column_of_places(profiler: ModuleType) -> None:
    table = stacked(profiler).key_averages(group_by_stack_n=3).table()
    assert "Source Location" in table and ": helper" in table
