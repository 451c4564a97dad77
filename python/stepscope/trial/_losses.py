"""Whether two runs' losses are the same, step by step at equal step numbers."""

from __future__ import annotations

import math
from typing import NamedTuple


class Compared(NamedTuple):
    steps: int
    """With a loss in both."""
    same: bool
    """To the last bit."""
    largest: float
    """The largest difference, over the mean size of the losses."""
    first: int
    """The first step whose difference exceeds the tolerance; -1 if none does."""
    average: float
    """The difference of the mean losses, over the same size."""


def compare(a: dict[int, float], b: dict[int, float], tolerance: float) -> Compared:
    common = sorted(step for step in a if step in b)
    sizes = [abs(a[step]) for step in common if math.isfinite(a[step])]
    size = sum(sizes) / len(sizes) if sizes else 0.0
    same, largest, first = True, 0.0, -1
    for step in common:
        one, other = a[step], b[step]
        if one == other or (math.isnan(one) and math.isnan(other)):
            continue
        same = False
        distance = abs(one - other) / size if size > 0 and math.isfinite(one) and math.isfinite(other) else math.inf
        largest = max(largest, distance)
        if distance > tolerance and first < 0:
            first = step
    apart = sum(b[step] - a[step] for step in common) / len(common) if common else 0.0
    average = abs(apart) / size if size > 0 and math.isfinite(apart) else math.inf
    return Compared(len(common), same, largest, first, average)


CHANCE = 1 / 3
"""Of a difference: two unchanged runs that differ by this share of it show that chance makes such differences."""


def in_words(compared: Compared, tolerance: float, unchanged: Compared | None = None) -> str:
    """``unchanged`` compares two unchanged runs whose gradients differ by rounding, where that was needed."""
    if compared.steps == 0:
        return "none seen"
    if compared.same:
        return "same"
    if compared.first < 0:
        return f"same within {percent(tolerance)}"
    if unchanged is not None and unchanged.steps > 0 and unchanged.largest >= CHANCE * compared.largest:
        return f"differs by up to {percent(compared.largest)}, as unchanged runs do"
    if not math.isfinite(compared.largest):
        return f"differs by {percent(compared.largest)} from step {compared.first}"
    return f"differs by up to {percent(compared.largest)} from step {compared.first}, on average by {percent(compared.average)}"


def percent(share: float) -> str:
    return f"{100 * share:.2g} %" if math.isfinite(share) and share < 10 else "more than 1000 %"
