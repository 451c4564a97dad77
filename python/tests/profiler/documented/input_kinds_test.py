"""What record_shapes tells of inputs that are no plain tensors."""

from __future__ import annotations

import pathlib
from types import ModuleType
from typing import Any, Callable, Dict, List, Tuple

import pytest
from documented.asking import Trace, exported, only, recorded, since, slices, torch

pytestmark = [pytest.mark.filterwarnings("ignore"), since(2, 4)]


def of_op(profiler: ModuleType, folder: pathlib.Path, name: str, work: Callable[[], Any]) -> Trace:
    """Arguments of the first op of this name in the file."""
    first = slices(exported(recorded(profiler, work, record_shapes=True), folder), name)[0]
    arguments: Trace = first["args"]
    return arguments


def event(profiler: ModuleType, name: str, work: Callable[[], Any]) -> Any:
    return next(event for event in recorded(profiler, work, record_shapes=True).events() if event.name == name)


DTYPES = {
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double", "int8": "signed char",
    "uint8": "unsigned char", "int16": "short int", "int32": "int", "int64": "long int", "bool": "bool",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_type_of_a_tensor(profiler: ModuleType, tmp_path: pathlib.Path, name: str) -> None:
    x = torch.ones(2, dtype=getattr(torch, name))
    assert of_op(profiler, tmp_path, "aten::view", lambda: x.view(2, 1))["Input type"][0] == DTYPES[name]


X = torch.ones(2, 3)
Told = Tuple[List[str], List[str]]
VALUES: Dict[str, Tuple[str, Callable[[], Any], Told]] = {
    "int": ("aten::unsqueeze", lambda: X.unsqueeze(1), (["float", "Scalar"], ["", "1"])),
    "float": ("aten::hardshrink", lambda: torch.hardshrink(X, 0.25), (["float", "Scalar"], ["", "0.25"])),
    "whole float": ("aten::hardshrink", lambda: torch.hardshrink(X, 3.0), (["float", "Scalar"], ["", "3."])),
    "complex": ("aten::fill_", lambda: X.to(torch.complex64).fill_(1 + 2j), (["c10::complex<float>", "Scalar"], ["", "1.+2.j"])),
    "bool": ("aten::argsort", lambda: torch.argsort(X, 1, True), (["float", "Scalar", "Scalar"], ["", "1", "True"])),
    "text": ("aten::div", lambda: torch.div(X, X, rounding_mode="floor"), (["float", "float", ""], ["", "", ""])),
    "None": ("aten::clamp", lambda: torch.clamp(X, None, 2.0), (["float", "", "Scalar"], ["", "", "2."])),
    "ints": ("aten::permute", lambda: X.permute(1, 0), (["float", "ScalarList"], ["", "[1, 0]"])),
    "no ints": ("aten::permute", lambda: torch.tensor(1.0).permute([]), (["float", "ScalarList"], ["", "[]"])),
    "bools": ("aten::roll", lambda: torch.roll(X, 1, 0), (["float", "ScalarList", "ScalarList"], ["", "[1]", "[0]"])),
}


@pytest.mark.parametrize("kind", VALUES)
def test_type_of_a_value(profiler: ModuleType, tmp_path: pathlib.Path, kind: str) -> None:
    name, work, (types, _) = VALUES[kind]
    assert of_op(profiler, tmp_path, name, work)["Input type"] == types


@pytest.mark.parametrize("kind", VALUES)
def test_value_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path, kind: str) -> None:
    name, work, (_, values) = VALUES[kind]
    assert of_op(profiler, tmp_path, name, work)["Concrete Inputs"] == values


def test_values_of_the_event(profiler: ModuleType) -> None:
    assert event(profiler, "aten::argsort", lambda: torch.argsort(X, 1, True)).concrete_inputs == [None, 1, True]


def test_value_of_a_list_of_the_event(profiler: ModuleType) -> None:
    assert event(profiler, "aten::permute", lambda: X.permute(1, 0)).concrete_inputs == [None, [1, 0]]


def test_value_of_a_float_of_the_event(profiler: ModuleType) -> None:
    assert event(profiler, "aten::hardshrink", lambda: torch.hardshrink(X, 3.0)).concrete_inputs == [None, 3.0]


def test_list_of_over_30_numbers_is_left_out(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    args = of_op(profiler, tmp_path, "aten::view", lambda: torch.ones(1).view([1] * 31))
    assert (args["Input type"], args["Concrete Inputs"]) == (["float", ""], ["", ""])


def test_tensor_of_no_dimensions(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.tensor(3.0)
    args = of_op(profiler, tmp_path, "aten::neg", lambda: torch.neg(x))
    assert (args["Input Dims"], args["Input type"]) == ([[]], ["float"])


def test_number_that_became_a_tensor(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    args = of_op(profiler, tmp_path, "aten::add", lambda: torch.add(X, 1))
    assert (args["Input Dims"], args["Input type"]) == ([[2, 3], [], []], ["float", "long int", "Scalar"])


def test_empty_tensor(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.ones(0, 3)
    assert of_op(profiler, tmp_path, "aten::neg", lambda: torch.neg(x))["Input Dims"] == [[0, 3]]


def test_missing_tensor(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    w = torch.ones(4, 3)
    args = of_op(profiler, tmp_path, "aten::linear", lambda: torch.nn.functional.linear(X, w))
    assert (args["Input Dims"], args["Input type"]) == ([[2, 3], [4, 3], []], ["float", "float", ""])


def test_list_of_tensors(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    args = of_op(profiler, tmp_path, "aten::cat", lambda: torch.cat([X, torch.ones(4, 3)]))
    assert (args["Input Dims"], args["Input type"]) == ([[[2, 3], [4, 3]], []], ["TensorList", "Scalar"])


def test_strides_of_a_list_of_tensors(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    y = torch.ones(3, 2).t()
    args = of_op(profiler, tmp_path, "aten::cat", lambda: torch.cat([X, y]))
    assert args["Input Strides"] == [[[3, 1], [1, 2]], []]


def test_list_of_over_30_tensors_is_left_out_of_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    args = of_op(profiler, tmp_path, "aten::cat", lambda: torch.cat([X] * 40))
    assert (args["Input Dims"], args["Input type"]) == ([[], []], ["TensorList", "Scalar"])


def test_list_with_missing_tensors(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    rows = torch.tensor([0, 1])
    args = of_op(profiler, tmp_path, "aten::index", lambda: X[:, rows])
    assert (args["Input Dims"], args["Input type"]) == ([[2, 3], []], ["float", ""])


def test_sparse_coo_tensor(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.eye(3).to_sparse()
    args = of_op(profiler, tmp_path, "aten::_sparse_mm", lambda: torch.sparse.mm(x, torch.ones(3, 2)))
    assert (args["Input Dims"], args["Input Strides"]) == ([[3, 3], [3, 2]], [[], [2, 1]])


def test_sparse_csr_tensor(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.eye(3).to_sparse_csr()
    args = of_op(profiler, tmp_path, "aten::mm", lambda: x @ torch.ones(3, 2))
    assert (args["Input Dims"], args["Input Strides"], args["Input type"]) == (
        [[3, 3], [3, 2]], [[], [2, 1]], ["float", "float"]
    )  # fmt: skip


def test_nested_tensor_has_no_shape(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    args = of_op(profiler, tmp_path, "aten::neg", lambda: torch.neg(x))
    assert (args["Input Dims"], args["Input type"]) == ([[]], [""])


def test_tensor_without_memory(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.empty(2, 3, device="meta")
    assert of_op(profiler, tmp_path, "aten::neg", lambda: torch.neg(x))["Input Dims"] == [[2, 3]]


class Scale(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Any, factor: int, name: str) -> Any:
        return x * factor

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 2, None, None


def test_custom_function_has_its_name(profiler: ModuleType) -> None:
    x = torch.ones(2, requires_grad=True)
    assert only(recorded(profiler, lambda: Scale.apply(x, 3, "name")).events(), "Scale")


@since(2, 15)
def test_inputs_of_a_custom_function(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.ones(2, requires_grad=True)
    args = of_op(profiler, tmp_path, "Scale", lambda: Scale.apply(x, 3, "name"))
    assert (args["Input Dims"], args["Input type"]) == ([[2], []], ["float", "Scalar"])


@since(2, 15)
def test_values_of_a_custom_function(profiler: ModuleType) -> None:
    x = torch.ones(2, requires_grad=True)
    assert event(profiler, "Scale", lambda: Scale.apply(x, 3, "name")).concrete_inputs == [None, 3]


def test_gradient_of_a_custom_function(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.ones(2, requires_grad=True)
    args = of_op(profiler, tmp_path, "ScaleBackward", lambda: Scale.apply(x, 3, "name").sum().backward())
    assert args["Input Dims"] == [[2]]
