"""Ranges that a program marks with `record_function`."""

from __future__ import annotations

import pathlib
from types import ModuleType
from typing import Any, Callable

import pytest
from documented.asking import args_of, exported, named, of_category, only, recorded, since, slices, torch

pytestmark = pytest.mark.filterwarnings("ignore")


def test_scope_of_a_range(profiler: ModuleType) -> None:
    def work() -> None:
        with profiler.record_function("mine"):
            pass

    assert only(recorded(profiler, work).events(), "mine").scope == 7


@since(2, 2)
def test_range_is_a_user_annotation(profiler: ModuleType) -> None:
    def work() -> None:
        with profiler.record_function("mine"):
            torch.neg(torch.ones(2))

    events = recorded(profiler, work).events()
    assert {event.name for event in events if event.is_user_annotation} == {"mine"}


def test_category_of_a_range(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    def work() -> None:
        with profiler.record_function("mine"):
            pass

    assert [event["cat"] for event in slices(exported(recorded(profiler, work), tmp_path), "mine")] == ["user_annotation"]


def test_ranges_of_torch_and_of_autograd_are_recorded(profiler: ModuleType) -> None:
    def work() -> None:
        with torch.profiler.record_function("from torch.profiler"), torch.autograd.profiler.record_function("from autograd"):
            pass

    events = recorded(profiler, work).events()
    assert [event.name for event in events if event.scope == 7] == ["from torch.profiler", "from autograd"]


def test_nested_ranges(profiler: ModuleType) -> None:
    def work() -> None:
        with profiler.record_function("outer"), profiler.record_function("inner"):
            torch.neg(torch.ones(2))

    events = recorded(profiler, work).events()
    assert only(events, "inner").cpu_parent is only(events, "outer")
    assert only(events, "aten::neg").cpu_parent is only(events, "inner")


@since(2, 4)
def test_nested_range_of_the_same_name_is_merged(profiler: ModuleType) -> None:
    def work() -> None:
        with profiler.record_function("same"), profiler.record_function("same"), profiler.record_function("leaf"):
            pass

    events = recorded(profiler, work).events()
    assert only(events, "leaf").cpu_parent is only(events, "same")


def test_decorated_function_is_a_range_at_each_call(profiler: ModuleType) -> None:
    mark: Callable[[Any], Any] = profiler.record_function("decorated")

    @mark
    def twice(number: int) -> int:
        return 2 * number

    assert len(named(recorded(profiler, lambda: [twice(1), twice(2)]).events(), "decorated")) == 2


def test_decorated_function_keeps_name_and_result(profiler: ModuleType) -> None:
    mark: Callable[[Any], Any] = profiler.record_function("decorated")

    @mark
    def twice(number: int) -> int:
        return 2 * number

    assert (twice.__name__, twice(3)) == ("twice", 6)


def test_decorated_function_may_call_itself(profiler: ModuleType) -> None:
    mark: Callable[[Any], Any] = profiler.record_function("recursive")

    @mark
    def count(number: int) -> int:
        torch.neg(torch.ones(2))
        return number and count(number - 1)

    assert len(named(recorded(profiler, lambda: count(2)).events(), "recursive")) == 3


def test_with_gives_the_range(profiler: ModuleType) -> None:
    made = profiler.record_function("mine", "its arguments")
    with made as entered:
        assert entered is made
    assert (made.name, made.args) == ("mine", "its arguments")


@since(2, 4)
def test_arguments_of_a_range_are_one_input(profiler: ModuleType) -> None:
    def work() -> None:
        with profiler.record_function("mine", "its arguments"):
            pass

    event = only(recorded(profiler, work, record_shapes=True).events(), "mine")
    assert (event.input_shapes, event.concrete_inputs) == ([[]], [None])


@since(2, 4)
def test_range_without_arguments_has_no_inputs(profiler: ModuleType) -> None:
    def work() -> None:
        with profiler.record_function("mine"):
            pass

    event = only(recorded(profiler, work, record_shapes=True).events(), "mine")
    assert (event.input_shapes, event.concrete_inputs) == ([], [])


def test_args_of_a_range_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    def work() -> None:
        with profiler.record_function("mine"):
            pass

    args = args_of(exported(recorded(profiler, work), tmp_path), "mine")
    assert {"External id", "Ev Idx", "Record function id"} <= set(args)


@pytest.mark.parametrize("name", ['größe "α" \\ back\tslash', "", "vector<int>", "a" * 9000], ids=["special", "empty", "type", "long"])
def test_unusual_name(profiler: ModuleType, name: str) -> None:
    def work() -> None:
        with profiler.record_function(name):
            pass

    assert [event.name for event in recorded(profiler, work).events() if event.scope == 7] == [name]


@pytest.mark.parametrize("name", ['größe "α" \\ back\tslash', "new\nline", ""], ids=["special", "line", "empty"])
def test_unusual_name_leaves_the_file_readable(profiler: ModuleType, tmp_path: pathlib.Path, name: str) -> None:
    def work() -> None:
        with profiler.record_function(name):
            pass

    assert len(of_category(exported(recorded(profiler, work), tmp_path), "user_annotation")) == 1


def test_range_ends_with_an_exception(profiler: ModuleType) -> None:
    def work() -> None:
        with pytest.raises(KeyError), profiler.record_function("broken"):
            raise KeyError

    assert len(named(recorded(profiler, work).events(), "broken")) == 1


def test_range_begun_before_the_profiler_is_not_an_event(profiler: ModuleType) -> None:
    early = profiler.record_function("early")
    early.__enter__()
    prof = recorded(profiler, lambda: early.__exit__(None, None, None))
    assert named(prof.events(), "early") == []


@since(2, 4)
def test_range_open_at_the_end_is_an_event(profiler: ModuleType) -> None:
    late = profiler.record_function("late")
    prof = recorded(profiler, lambda: late.__enter__())
    late.__exit__(None, None, None)
    assert len(named(prof.events(), "late")) == 1


def test_range_without_a_profiler_does_nothing(profiler: ModuleType) -> None:
    with profiler.record_function("alone"):
        pass
    assert named(recorded(profiler, lambda: None).events(), "alone") == []


def test_name_that_is_no_text_is_an_error(profiler: ModuleType) -> None:
    with profiler.profile(), pytest.raises((RuntimeError, TypeError)), profiler.record_function(5):
        pass


def test_range_of_a_future_ends_with_it(profiler: ModuleType) -> None:
    def work() -> None:
        future = torch.futures.Future()
        with profiler.record_function("asked") as made:
            made._call_end_callbacks_on_future(future)
        torch.neg(torch.ones(2))
        future.set_result(1)

    events = recorded(profiler, work).events()
    assert only(events, "asked").time_range.end >= only(events, "aten::neg").time_range.end


def test_range_takes_one_future_only(profiler: ModuleType) -> None:
    with profiler.profile(), profiler.record_function("asked") as made:
        future = torch.futures.Future()
        made._call_end_callbacks_on_future(future)
        with pytest.raises(RuntimeError):
            made._call_end_callbacks_on_future(future)
        future.set_result(1)


def test_averages_of_ranges_are_user_annotations(profiler: ModuleType) -> None:
    def work() -> None:
        for _ in range(3):
            with profiler.record_function("mine"):
                pass

    (row,) = (row for row in recorded(profiler, work).key_averages() if row.key == "mine")
    assert row.count == 3
