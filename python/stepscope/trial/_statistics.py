"""Paired differences of blocks: their centre and a 95 % interval.

Hodges and Lehmann's estimate with the interval of Wilcoxon's signed-rank test (Hollander, Wolfe and Chicken, Nonparametric
Statistical Methods, 3rd edition, sections 3.2 and 3.3): a block that something else on the machine disturbed moves it little, and
nothing is assumed about how times are distributed, except that differences are symmetric.
"""

from __future__ import annotations

import math
from typing import NamedTuple

CONFIDENCE = 0.95
FEWEST = 6
"""Differences. With five, no interval of signed ranks has 95 %."""
NARROW_STEP = 0.02
"""Of the step: an interval this narrow is narrow enough."""
NARROW_SAVING = 1 / 3
"""Of the saving: so is one this narrow."""
NOT_WORTH = 0.01
"""Of the step: a change that surely saves less than this is not measured further."""


class Interval(NamedTuple):
    middle: float
    low: float
    high: float


def walsh(differences: list[float]) -> list[float]:
    """The means of all pairs, each difference paired with itself too, sorted."""
    ordered = sorted(differences)
    return sorted((a + b) / 2 for i, a in enumerate(ordered) for b in ordered[i:])


def median(ordered: list[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def cut(count: int, confidence: float = CONFIDENCE) -> int | None:
    """How many means to leave out at each end; None if even the whole range is not that sure."""
    ways = [1]  # ways[w]: sets of ranks 1..count whose sum is w
    for rank in range(1, count + 1):
        longer = ways + [0] * rank
        for total, number in enumerate(ways):
            longer[total + rank] += number
        ways = longer
    allowed = (1 - confidence) / 2 * 2**count
    below, left_out = 0, -1
    for number in ways:
        below += number
        if below > allowed:
            break
        left_out += 1
    return left_out if left_out >= 0 else None


def interval(differences: list[float]) -> Interval:
    """Of the pseudo-median. Unlimited on both sides below FEWEST differences."""
    if not differences:
        return Interval(math.nan, -math.inf, math.inf)
    means = walsh(differences)
    left_out = cut(len(differences)) if len(differences) < 200 else normal_cut(len(differences))
    if left_out is None:
        return Interval(median(means), -math.inf, math.inf)
    return Interval(median(means), means[left_out], means[-1 - left_out])


def normal_cut(count: int) -> int:
    spread = math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
    return max(int(count * (count + 1) / 4 - 1.96 * spread), 0)


def enough(found: Interval, step: float) -> bool:
    """Whether more blocks would not change what a reader does."""
    width = found.high - found.low
    if not math.isfinite(width) or step <= 0:
        return False
    return width < NARROW_STEP * step or width < NARROW_SAVING * abs(found.middle) or found.high < NOT_WORTH * step


def won(found: Interval) -> bool:
    return math.isfinite(found.low) and found.low > 0


def period(times: list[float]) -> int:
    """The distance of steps that are long at equal distances, e.g. at the ends of epochs; 1 if there are none."""
    middle = median(sorted(times)) if times else 0.0
    long = [i for i, one in enumerate(times) if one > 1.5 * middle]
    gaps = {b - a for a, b in zip(long, long[1:])}
    return gaps.pop() if len(long) >= 3 and len(gaps) == 1 else 1
