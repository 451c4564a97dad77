"""Ranges that Triton and Inductor mark with `_RecordFunctionFast`."""

from __future__ import annotations

import pathlib
from types import ModuleType
from typing import Any

import pytest
from documented.asking import args_of, exported, named, only, recorded, since, slices, torch

FAST: Any = getattr(torch._C._profiler, "_RecordFunctionFast", None)
LAUNCH = {"grid": "grid(128,)", "stream": 7, "kernel_file": "/a/b.py", "num_warps": 4, "eps": 0.5, "fused": True}
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(FAST is None, reason="this PyTorch has no _RecordFunctionFast"),
]


def fast(*args: Any, **kwargs: Any) -> Any:
    return torch._C._profiler._RecordFunctionFast(*args, **kwargs)


def enter(*args: Any, **kwargs: Any) -> None:
    with fast(*args, **kwargs):
        pass


def test_range_is_an_event(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: enter("my_kernel"))
    assert [event.name for event in prof.events()] == ["my_kernel"]


def test_range_of_a_name_imported_earlier_is_an_event(profiler: ModuleType) -> None:
    def work() -> None:
        with FAST("imported"):
            pass

    assert len(named(recorded(profiler, work).events(), "imported")) == 1


def test_range_made_before_the_profiler_is_an_event(profiler: ModuleType) -> None:
    made = fast("made before")

    def work() -> None:
        with made:
            pass

    assert len(named(recorded(profiler, work).events(), "made before")) == 1


def test_range_is_parent_of_its_ops(profiler: ModuleType) -> None:
    x = torch.ones(2)

    def work() -> None:
        with fast("my_kernel"):
            torch.neg(x)

    prof = recorded(profiler, work)
    assert only(prof.events(), "aten::neg").cpu_parent.name == "my_kernel"


def test_range_has_the_scope_of_an_op(profiler: ModuleType) -> None:
    event = only(recorded(profiler, lambda: enter("my_kernel")).events(), "my_kernel")
    assert (event.scope, event.is_user_annotation) == (0, False)


def test_range_is_written_as_an_op(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, lambda: enter("my_kernel")), tmp_path)
    assert [event["cat"] for event in slices(trace, "my_kernel")] == ["cpu_op"]


def test_shapes_of_inputs(profiler: ModuleType) -> None:
    inputs = [torch.ones(2, 3), 4, torch.ones(5)]
    prof = recorded(profiler, lambda: enter("my_kernel", inputs), record_shapes=True)
    assert only(prof.events(), "my_kernel").input_shapes == [[2, 3], [], [5]]


def test_inputs_may_be_a_tuple(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: enter("my_kernel", (torch.ones(2, 3),)), record_shapes=True)
    assert only(prof.events(), "my_kernel").input_shapes == [[2, 3]]


def test_inputs_may_be_named(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: enter(name="my_kernel", input_values=[torch.ones(3)]), record_shapes=True)
    assert only(prof.events(), "my_kernel").input_shapes == [[3]]


@since(2, 4)
def test_values_of_inputs(profiler: ModuleType) -> None:
    inputs = [torch.ones(2), 4, 2.5, True, None, "text"]
    prof = recorded(profiler, lambda: enter("my_kernel", inputs), record_shapes=True)
    assert only(prof.events(), "my_kernel").concrete_inputs == [None, 4, 2.5, True, None, None]


def test_inputs_need_record_shapes(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: enter("my_kernel", [torch.ones(2), 4]))
    event = only(prof.events(), "my_kernel")
    assert (event.input_shapes, event.concrete_inputs) == ([], [])


def test_input_types_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    inputs = [torch.ones(2), 4, 2.5, True, None, torch.ones(2, dtype=torch.int64)]
    prof = recorded(profiler, lambda: enter("my_kernel", inputs), record_shapes=True)
    types = args_of(exported(prof, tmp_path), "my_kernel")["Input type"]
    assert types == ["float", "Scalar", "Scalar", "Scalar", "", "long int"]


def test_list_of_tensors_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    inputs = [torch.ones(2, 3), [torch.ones(4), torch.ones(5)]]
    prof = recorded(profiler, lambda: enter("my_kernel", inputs), record_shapes=True)
    args = args_of(exported(prof, tmp_path), "my_kernel")
    assert (args["Input Dims"], args["Input type"]) == ([[2, 3], [[4], [5]]], ["float", "TensorList"])


@since(2, 6)
def test_keyword_values_of_the_event(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: enter("my_kernel", [], LAUNCH), record_shapes=True)
    assert only(prof.events(), "my_kernel").kwinputs == LAUNCH


@since(2, 6)
def test_keyword_values_without_inputs(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: enter("my_kernel", keyword_values={"stream": 3}), record_shapes=True)
    assert only(prof.events(), "my_kernel").kwinputs == {"stream": 3}


@since(2, 6)
def test_keyword_values_need_record_shapes(profiler: ModuleType) -> None:
    prof = recorded(profiler, lambda: enter("my_kernel", [], {"stream": 3}))
    assert only(prof.events(), "my_kernel").kwinputs == {}


@since(2, 6)
def test_keyword_values_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, lambda: enter("my_kernel", [torch.ones(2)], LAUNCH), record_shapes=True)
    args = args_of(exported(prof, tmp_path), "my_kernel")
    assert {key: args.get(key) for key in LAUNCH} == LAUNCH


@since(2, 6)
def test_keyword_values_of_an_op_are_empty(profiler: ModuleType) -> None:
    x = torch.ones(2)
    prof = recorded(profiler, lambda: torch.neg(x), record_shapes=True)
    assert only(prof.events(), "aten::neg").kwinputs == {}


@since(2, 6)
def test_keyword_that_is_no_text_is_an_error(profiler: ModuleType) -> None:
    with profiler.profile(record_shapes=True), pytest.raises(RuntimeError):
        enter("my_kernel", [], {1: 2})


def test_range_entered_twice_is_two_events(profiler: ModuleType) -> None:
    def work() -> None:
        again = fast("again")
        for _ in range(2):
            with again:
                pass

    assert len(named(recorded(profiler, work).events(), "again")) == 2


def test_range_entered_within_itself_is_an_error(profiler: ModuleType) -> None:
    with profiler.profile():
        nested = fast("nested")
        with nested, pytest.raises(RuntimeError):
            nested.__enter__()


def test_range_left_before_it_is_entered_is_an_error(profiler: ModuleType) -> None:
    with profiler.profile(), pytest.raises(RuntimeError):
        fast("never entered").__exit__(None, None, None)


def test_name_is_required(profiler: ModuleType) -> None:
    with profiler.profile(), pytest.raises(TypeError):
        fast()


def test_range_ends_with_an_exception(profiler: ModuleType) -> None:
    def work() -> None:
        with pytest.raises(KeyError), fast("broken"):
            raise KeyError

    assert len(named(recorded(profiler, work).events(), "broken")) == 1


def test_ranges_are_grouped_by_shape(profiler: ModuleType) -> None:
    def work() -> None:
        for size in (2, 3, 3):
            enter("my_kernel", [torch.ones(size)])

    rows = recorded(profiler, work, record_shapes=True).key_averages(group_by_input_shape=True)
    assert {str(row.input_shapes): row.count for row in rows if row.key == "my_kernel"} == {"[[2]]": 1, "[[3]]": 2}
