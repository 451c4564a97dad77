"""Averages of events, and tables of them."""

from __future__ import annotations

from types import ModuleType
from typing import Any, List

import pytest
from documented.asking import config, only, recorded, since, torch

pytestmark = pytest.mark.filterwarnings("ignore")
LONG = "a range with a name that is much longer than the column of names in the table"


def work() -> None:
    for size in (2, 3, 3):
        torch.neg(torch.ones(size))


def row(rows: Any, name: str) -> Any:
    (found,) = (row for row in rows if row.key == name)
    return found


def names(table: str) -> List[str]:
    """First cells of the rows of a table."""
    cells = [line.split("  ")[0] or line.strip().split("  ")[0] for line in table.splitlines()]
    return [cell for cell in cells if cell.startswith("aten::")]


def header(table: str) -> str:
    return next(line for line in table.splitlines() if "Self CPU" in line)


def test_one_row_per_name(profiler: ModuleType) -> None:
    rows = recorded(profiler, work).key_averages()
    assert {row.key: row.count for row in rows} == {"aten::ones": 3, "aten::empty": 3, "aten::fill_": 3, "aten::neg": 3}


def test_rows_have_the_order_of_the_first_calls(profiler: ModuleType) -> None:
    rows = recorded(profiler, work).key_averages()
    assert [row.key for row in rows] == ["aten::ones", "aten::empty", "aten::fill_", "aten::neg"]


def test_times_are_summed(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    total = sum(event.cpu_time_total for event in prof.events() if event.name == "aten::ones")
    found = row(prof.key_averages(), "aten::ones")
    assert found.cpu_time_total == pytest.approx(total)
    assert found.cpu_time == pytest.approx(total / 3)


def test_own_times_leave_out_children(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    children = [child for event in prof.events() if event.name == "aten::ones" for child in event.cpu_children]
    found = row(prof.key_averages(), "aten::ones")
    inner = sum(child.cpu_time_total for child in children)
    assert found.self_cpu_time_total == pytest.approx(found.cpu_time_total - inner)
    # PyTorch 1.13 cuts times to whole µs, and a child that then ends after its parent is no longer its child.
    if profiler is not torch.profiler:
        assert [child.name for child in children] == ["aten::empty", "aten::fill_"] * 3


def test_total_of_own_times(profiler: ModuleType) -> None:
    prof = recorded(profiler, work)
    outer = sum(event.cpu_time_total for event in prof.events() if event.cpu_parent is None)
    assert prof.key_averages().self_cpu_time_total == pytest.approx(outer)
    assert prof.events().self_cpu_time_total == pytest.approx(outer)


def test_grouped_by_shape(profiler: ModuleType) -> None:
    rows = recorded(profiler, work, record_shapes=True).key_averages(group_by_input_shape=True)
    assert [(row.input_shapes, row.count) for row in rows if row.key == "aten::neg"] == [([[2]], 1), ([[3]], 2)]


def test_not_grouped_by_shape(profiler: ModuleType) -> None:
    rows = recorded(profiler, work, record_shapes=True).key_averages()
    assert (row(rows, "aten::neg").count, row(rows, "aten::neg").input_shapes) == (3, "")


def test_events_group_by_shape(profiler: ModuleType) -> None:
    rows = recorded(profiler, work, record_shapes=True).events().key_averages(group_by_input_shapes=True)
    assert [row.count for row in rows if row.key == "aten::neg"] == [1, 2]


@since(2, 7)
def test_grouped_by_overload(profiler: ModuleType) -> None:
    x = torch.ones(2)
    prof = recorded(profiler, lambda: [x.pow(2), x.pow(x)], experimental_config=config(capture_overload_names=True))
    rows = prof.key_averages(group_by_overload_name=True)
    assert {row.overload_name for row in rows if row.key == "aten::pow"} == {"Tensor_Scalar", "Tensor_Tensor"}


@since(2, 7)
def test_not_grouped_by_overload(profiler: ModuleType) -> None:
    x = torch.ones(2)
    prof = recorded(profiler, lambda: [x.pow(2), x.pow(x)], experimental_config=config(capture_overload_names=True))
    found = row(prof.key_averages(), "aten::pow")
    assert (found.count, found.overload_name) == (2, "")


@since(2, 7)
def test_table_has_a_column_of_overloads(profiler: ModuleType) -> None:
    x = torch.ones(2)
    prof = recorded(profiler, lambda: x.pow(2), experimental_config=config(capture_overload_names=True))
    table = prof.key_averages(group_by_overload_name=True).table()
    assert "Overload Name" in table and "Tensor_Scalar" in table


@since(2, 2)
def test_ranges_and_ops_of_one_name_are_apart(profiler: ModuleType) -> None:
    def both() -> None:
        with profiler.record_function("aten::neg"):
            torch.abs(torch.ones(2))
        torch.neg(torch.ones(2))

    rows = recorded(profiler, both).key_averages()
    assert [row.count for row in rows if row.key == "aten::neg"] == [1, 1]


def test_rows_add_up(profiler: ModuleType) -> None:
    rows = recorded(profiler, work).key_averages()
    first, second = (recorded(profiler, work).key_averages() for _ in range(2))
    found = row(first, "aten::neg")
    found += row(second, "aten::neg")
    assert (found.count, len(rows)) == (6, 4)


def test_total_average(profiler: ModuleType) -> None:
    total = recorded(profiler, work).events().total_average()
    assert (total.key, total.count) == ("Total", 12)


def test_total_average_of_averages(profiler: ModuleType) -> None:
    total = recorded(profiler, work).key_averages().total_average()
    assert (total.key, total.count) == ("Total", 12)


def test_times_are_printed(profiler: ModuleType) -> None:
    event = only(recorded(profiler, lambda: torch.empty(2)).events(), "aten::empty")
    assert event.cpu_time_total_str == f"{event.cpu_time_total:.3f}us"


def test_names_of_columns(profiler: ModuleType) -> None:
    columns = header(recorded(profiler, work).key_averages().table()).split("  ")
    wanted = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
    assert [column.strip() for column in columns if column.strip()] == wanted


def test_text_of_averages_is_the_table(profiler: ModuleType) -> None:
    rows = recorded(profiler, work).key_averages()
    assert str(rows) == rows.table()


def test_table_of_nothing_is_empty(profiler: ModuleType) -> None:
    assert recorded(profiler, lambda: None).key_averages().table() == ""


def test_table_ends_with_the_total(profiler: ModuleType) -> None:
    assert recorded(profiler, work).key_averages().table().splitlines()[-1].startswith("Self CPU time total: ")


def test_limit_of_rows(profiler: ModuleType) -> None:
    assert len(names(recorded(profiler, work).key_averages().table(row_limit=2))) == 2


def test_no_limit_of_rows(profiler: ModuleType) -> None:
    assert len(names(recorded(profiler, work).key_averages().table(row_limit=-1))) == 4


@pytest.mark.parametrize("key", ["cpu_time_total", "self_cpu_time_total", "cpu_time", "count"])
def test_sorted_rows(profiler: ModuleType, key: str) -> None:
    rows = recorded(profiler, work).key_averages()
    wanted = [row.key for row in sorted(rows, key=lambda row: getattr(row, key), reverse=True)]
    assert names(rows.table(sort_by=key)) == wanted


def test_sorted_by_time_of_a_device_without_one(profiler: ModuleType) -> None:
    rows = recorded(profiler, work).key_averages()
    assert names(rows.table(sort_by="cuda_time_total")) == [row.key for row in rows]


def long_range(profiler: ModuleType) -> Any:
    def mark() -> None:
        with profiler.record_function(LONG):
            pass

    return recorded(profiler, mark).key_averages()


def test_long_name_is_cut(profiler: ModuleType) -> None:
    assert LONG[:52] + "..." in long_range(profiler).table()


def test_width_of_names(profiler: ModuleType) -> None:
    table = long_range(profiler).table(max_name_column_width=20)
    assert LONG[:17] + "..." in table and LONG[:18] not in table


def test_no_width_of_names(profiler: ModuleType) -> None:
    assert LONG in long_range(profiler).table(max_name_column_width=None)


def test_width_of_shapes(profiler: ModuleType) -> None:
    rows = recorded(profiler, lambda: torch.ones(2, 3) + torch.ones(2, 3), record_shapes=True)
    table = rows.key_averages(group_by_input_shape=True).table(max_shapes_column_width=12)
    assert "[[2, 3], [2," in table and "[[2, 3], [2, 3]" not in table


def test_header(profiler: ModuleType) -> None:
    lines = recorded(profiler, work).key_averages().table(header="My report").splitlines()
    assert set(lines[0]) == {"="} and lines[1] == "My report"


@since(2, 4)
def test_top_level_events_only(profiler: ModuleType) -> None:
    table = recorded(profiler, work).events().table(top_level_events_only=True)
    assert set(names(table)) == {"aten::ones", "aten::neg"}
    assert "This report only display top-level ops statistics" in table


@since(2, 10)
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_unit_of_times(profiler: ModuleType, unit: str) -> None:
    table = recorded(profiler, work).key_averages().table(time_unit=unit)
    total = table.splitlines()[-1].partition(": ")[2]
    assert total.rstrip("smu") + unit == total


def test_table_of_events_has_a_row_per_event(profiler: ModuleType) -> None:
    assert len(names(recorded(profiler, work).events().table())) == 12


def test_events_print_their_fields(profiler: ModuleType) -> None:
    text = repr(only(recorded(profiler, lambda: torch.empty(2)).events(), "aten::empty"))
    assert text.startswith("<FunctionEvent id=") and "name=aten::empty" in text and "seq_nr=-1" in text


@since(2, 15)
def test_events_print_all_fields_in_order(profiler: ModuleType) -> None:
    text = repr(only(recorded(profiler, lambda: torch.empty(2)).events(), "aten::empty"))
    keys = [word.partition("=")[0] for word in text.split() if "=" in word]
    assert keys == [
        "id", "name", "overload_name", "device_type", "node_id", "cpu_time", "start_us", "end_us", "cpu_children", "None_time",
        "name", "thread", "input_shapes", "cpu_memory_usage", "None_memory_usage", "is_async", "is_remote", "seq_nr", "is_legacy",
    ]  # fmt: skip
