"""Python's garbage collections, recorded with `record_python_gc_info`."""

from __future__ import annotations

import gc
import pathlib
from types import ModuleType
from typing import Any, Iterator

import pytest
from documented.asking import args_of, config, exported, named, of_category, recorded, slices

pytestmark = pytest.mark.filterwarnings("ignore")
NAME = "Python GC"


@pytest.fixture(autouse=True)
def no_automatic_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def collected(profiler: ModuleType, **options: Any) -> Any:
    asked = config(record_python_gc_info=True)
    return recorded(profiler, lambda: [gc.collect(0), gc.collect()], experimental_config=asked, **options)


def test_each_collection_is_an_event(profiler: ModuleType) -> None:
    assert len(named(collected(profiler, with_stack=True).events(), NAME)) == 2


def test_each_collection_is_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert len(slices(exported(collected(profiler, with_stack=True), tmp_path), NAME)) == 2


def test_category_of_a_collection(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    events = slices(exported(collected(profiler, with_stack=True), tmp_path), NAME)
    assert {event["cat"] for event in events} == {"python_function"}


def test_collection_is_numbered(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    events = slices(exported(collected(profiler, with_stack=True), tmp_path), NAME)
    assert all("Ev Idx" in event["args"] for event in events) and events


def test_no_collections_without_the_option(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, gc.collect, with_stack=True), tmp_path)
    assert slices(trace, NAME) == []


def test_collections_need_stacks(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert slices(exported(collected(profiler), tmp_path), NAME) == []


def test_call_of_the_collector_is_in_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, gc.collect, with_stack=True), tmp_path)
    assert args_of(trace, "<built-in function collect>")
    assert of_category(trace, "python_function")
