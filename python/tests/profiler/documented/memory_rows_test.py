"""Memory of ops, recorded with `profile_memory`."""

from __future__ import annotations

from types import ModuleType
from typing import Any, List

import pytest
from documented.asking import named, only, recorded, since, torch

pytestmark = [pytest.mark.filterwarnings("ignore"), since(2, 4)]


def kept(profiler: ModuleType, **options: Any) -> Any:
    """Records an allocation of 400 bytes that stays."""
    alive: List[Any] = []
    return recorded(profiler, lambda: alive.append(torch.empty(100)), profile_memory=True, **options)


def test_op_that_allocates(profiler: ModuleType) -> None:
    event = only(kept(profiler).events(), "aten::empty")
    assert (event.cpu_memory_usage, event.self_cpu_memory_usage) == (400, 400)


def test_op_has_the_memory_of_its_children(profiler: ModuleType) -> None:
    alive: List[Any] = []
    events = recorded(profiler, lambda: alive.append(torch.ones(100)), profile_memory=True).events()
    event = only(events, "aten::ones")
    assert (event.cpu_memory_usage, event.self_cpu_memory_usage) == (400, 0)


def test_range_has_the_memory_of_its_ops(profiler: ModuleType) -> None:
    alive: List[Any] = []

    def work() -> None:
        with profiler.record_function("mine"):
            alive.append(torch.empty(100))

    assert only(recorded(profiler, work, profile_memory=True).events(), "mine").cpu_memory_usage == 400


def test_memory_freed_within_an_op_is_subtracted(profiler: ModuleType) -> None:
    def work() -> None:
        with profiler.record_function("mine"):
            torch.empty(100)

    assert only(recorded(profiler, work, profile_memory=True).events(), "mine").cpu_memory_usage == 0


def test_op_that_allocates_nothing(profiler: ModuleType) -> None:
    x = torch.ones(100)
    event = only(recorded(profiler, lambda: x.neg_(), profile_memory=True).events(), "aten::neg_")
    assert event.cpu_memory_usage == 0


def test_memory_freed_outside_of_ops_is_an_event(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: torch.empty(100), profile_memory=True).events()
    assert [event.cpu_memory_usage for event in named(events, "[memory]")] == [-400]


def test_memory_event_has_no_duration(profiler: ModuleType) -> None:
    event = only(recorded(profiler, lambda: torch.empty(100), profile_memory=True).events(), "[memory]")
    assert (event.cpu_time_total, event.trace_name) == (0, None)


def test_memory_allocated_in_ops_is_no_event(profiler: ModuleType) -> None:
    assert named(kept(profiler).events(), "[memory]") == []


def test_averages_have_a_row_of_memory(profiler: ModuleType) -> None:
    def work() -> None:
        for _ in range(3):
            torch.empty(100)

    rows = recorded(profiler, work, profile_memory=True).key_averages()
    assert [(row.count, row.cpu_memory_usage) for row in rows if row.key == "[memory]"] == [(3, -1200)]


def test_averages_sum_memory(profiler: ModuleType) -> None:
    alive: List[Any] = []
    prof = recorded(profiler, lambda: alive.extend([torch.empty(100), torch.empty(10)]), profile_memory=True)
    assert [row.self_cpu_memory_usage for row in prof.key_averages() if row.key == "aten::empty"] == [440]


def test_memory_of_a_device_without_one(profiler: ModuleType) -> None:
    event = only(kept(profiler).events(), "aten::empty")
    assert (event.device_memory_usage, event.self_device_memory_usage) == (0, 0)


def test_no_memory_without_the_option(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: torch.empty(100)).events()
    assert {event.cpu_memory_usage for event in events} == {0}


def test_table_has_columns_of_memory(profiler: ModuleType) -> None:
    table = kept(profiler).key_averages().table()
    assert "CPU Mem" in table and "Self CPU Mem" in table and "400 B" in table


def test_table_has_a_row_of_memory(profiler: ModuleType) -> None:
    table = recorded(profiler, lambda: torch.empty(1000), profile_memory=True).key_averages().table()
    (row,) = (line for line in table.splitlines() if line.strip().startswith("[memory]"))
    assert "-3.91 KB" in row


def test_table_without_the_option_has_no_such_columns(profiler: ModuleType) -> None:
    assert "Mem" not in recorded(profiler, lambda: torch.empty(100)).key_averages().table()


def test_table_sorted_by_memory(profiler: ModuleType) -> None:
    alive: List[Any] = []
    prof = recorded(profiler, lambda: alive.extend([torch.ones(10), torch.zeros(1000)]), profile_memory=True)
    table = prof.key_averages().table(sort_by="cpu_memory_usage", row_limit=2)
    assert "aten::zeros" in table and "aten::ones" not in table


def test_total_sums_own_memory(profiler: ModuleType) -> None:
    alive: List[Any] = []
    events = recorded(profiler, lambda: alive.append(torch.ones(100)), profile_memory=True).events()
    assert events.total_average().self_cpu_memory_usage == 400


def test_memory_of_a_gradient(profiler: ModuleType) -> None:
    x = torch.ones(100, requires_grad=True)
    events = recorded(profiler, lambda: (x * 2).sum().backward(), profile_memory=True).events()
    assert only(events, "MulBackward0").cpu_memory_usage == 400


def test_storage_that_grows(profiler: ModuleType) -> None:
    x = torch.empty(0)
    events = recorded(profiler, lambda: x.resize_(100), profile_memory=True).events()
    assert only(events, "aten::resize_").cpu_memory_usage == 400
