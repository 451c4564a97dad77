"""Floating-point operations, counted with `with_flops`."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, Dict, Tuple

import pytest
from documented.asking import only, torch
from documented.asking import recorded as run

pytestmark = pytest.mark.filterwarnings("ignore")
X, Y = torch.ones(4, 5), torch.ones(5, 6)
IMAGE, KERNEL = torch.ones(2, 3, 8, 8), torch.ones(4, 3, 3, 3)
conv2d = torch.nn.functional.conv2d

COUNTS: Dict[str, Tuple[str, Callable[[], Any], int]] = {
    "mm": ("aten::mm", lambda: torch.mm(X, Y), 2 * 4 * 5 * 6),
    "complex mm": ("aten::mm", lambda: torch.mm(X.to(torch.complex64), Y.to(torch.complex64)), 2 * 4 * 5 * 6),
    "addmm": ("aten::addmm", lambda: torch.addmm(torch.ones(6), X, Y), 2 * 4 * 5 * 6),
    "bmm": ("aten::bmm", lambda: torch.bmm(torch.ones(3, 4, 5), torch.ones(3, 5, 6)), 2 * 3 * 4 * 5 * 6),
    "baddbmm": ("aten::baddbmm", lambda: torch.baddbmm(torch.ones(3, 4, 6), torch.ones(3, 4, 5), torch.ones(3, 5, 6)), 720),
    "mul": ("aten::mul", lambda: torch.mul(X, X), 20),
    "mul by a number": ("aten::mul", lambda: torch.mul(X, 2), 20),
    "add": ("aten::add", lambda: torch.add(X, X), 20),
    "add to a wider tensor": ("aten::add", lambda: torch.add(torch.ones(5), X), 5),
    "neg": ("aten::neg", lambda: torch.neg(X), 0),
    "conv2d": ("aten::conv2d", lambda: conv2d(IMAGE, KERNEL), 2 * 2 * 4 * 6 * 6 * 3 * 3 * 3),
    "conv2d with padding": ("aten::conv2d", lambda: conv2d(IMAGE, KERNEL, padding=1), 2 * 2 * 4 * 8 * 8 * 3 * 3 * 3),
    "conv2d with steps": ("aten::conv2d", lambda: conv2d(IMAGE, KERNEL, stride=2), 2 * 2 * 4 * 3 * 3 * 3 * 3 * 3),
    "conv2d with groups": ("aten::conv2d", lambda: conv2d(IMAGE, torch.ones(3, 1, 3, 3), groups=3), 2 * 2 * 3 * 6 * 6 * 3 * 3),
    "conv2d with dilation": ("aten::conv2d", lambda: conv2d(IMAGE, KERNEL, dilation=2), 2 * 2 * 4 * 4 * 4 * 3 * 3 * 3),
}


def recorded(profiler: ModuleType, work: Callable[[], Any]) -> Any:
    return run(profiler, work, with_flops=True, record_shapes=True)


@pytest.mark.parametrize("kind", COUNTS)
def test_operations_of(profiler: ModuleType, kind: str) -> None:
    name, work, count = COUNTS[kind]
    assert only(recorded(profiler, work).events(), name).flops == count


def test_no_operations_without_with_flops(profiler: ModuleType) -> None:
    assert not only(run(profiler, lambda: torch.mm(X, Y)).events(), "aten::mm").flops


def test_operations_need_no_record_shapes(profiler: ModuleType) -> None:
    events = run(profiler, lambda: torch.mm(X, Y), with_flops=True).events()
    assert only(events, "aten::mm").flops == 240


def test_with_flops_keeps_shapes(profiler: ModuleType) -> None:
    events = run(profiler, lambda: torch.mm(X, Y), with_flops=True).events()
    assert only(events, "aten::mm").input_shapes == [[4, 5], [5, 6]]


def test_averages_sum_operations(profiler: ModuleType) -> None:
    rows = recorded(profiler, lambda: [torch.mm(X, Y), torch.mm(X, Y)]).key_averages()
    assert [row.flops for row in rows if row.key == "aten::mm"] == [480]


def test_table_has_a_column_of_operations(profiler: ModuleType) -> None:
    table = recorded(profiler, lambda: torch.mm(X, Y)).key_averages().table()
    assert "Total FLOPs" in table and "240.000" in table


def test_column_has_the_unit_of_the_smallest_number(profiler: ModuleType) -> None:
    table = recorded(profiler, lambda: torch.ones(500, 500).mm(torch.ones(500, 500))).key_averages().table()
    assert "Total MFLOPs" in table and "250.000" in table


def test_table_without_operations_has_no_column(profiler: ModuleType) -> None:
    table = recorded(profiler, lambda: torch.neg(X)).key_averages().table()
    assert "FLOPs" not in table


def test_total_sums_operations(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: [torch.mm(X, Y), torch.mul(X, X)]).events()
    assert events.total_average().flops == 260
