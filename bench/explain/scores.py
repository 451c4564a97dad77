"""Scores of runs with 95 % intervals: of shares by Wilson's formula, of other figures by resampling the seeds."""
import math
import random
import statistics
from dataclasses import dataclass

DRAWS = 2000
LEVELS = ("high", "medium", "low")


@dataclass(frozen=True)
class Figure:
    value: float  # None: nothing to count
    low: float
    high: float
    count: int


def resampled(items, of):
    """`of(items)` and its 95 % interval from seeds drawn with replacement; a single seed has no interval."""
    value = of(items)
    if value is None:
        return Figure(None, None, None, 0)
    by_seed = {}
    for item in items:
        by_seed.setdefault(item.seed, []).append(item)
    seeds, draw, values = sorted(by_seed), random.Random(6), []
    if len(seeds) < 2:
        return Figure(value, None, None, len(items))
    for _ in range(DRAWS):
        chosen = of([item for seed in draw.choices(seeds, k=len(seeds)) for item in by_seed[seed]])
        if chosen is not None:
            values.append(chosen)
    values.sort()
    return Figure(value, values[len(values) * 25 // 1000], values[min(len(values) - 1, len(values) * 975 // 1000)], len(items))


def wilson(hits, count):
    """95 % interval of a share of independent trials (Wilson, 1927)."""
    z = 1.959964
    share, scale = hits / count, 1 + z * z / count
    middle = (share + z * z / (2 * count)) / scale
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


def share(items, test):
    """The share of the items that pass the test, as a Figure."""
    if not items:
        return Figure(None, None, None, 0)
    hits = sum(map(test, items))
    return Figure(hits / len(items), *wilson(hits, len(items)), len(items))


def named_first(run):
    return run.faulty.where(run.rules) == 0


def named_among_three(run):
    place = run.faulty.where(run.rules)
    return place is not None and place < 3


def named(run):
    """The finding of the planted cause, None without one."""
    place = run.faulty.where(run.rules)
    return None if place is None else run.faulty.found[place]


def false_alarms(run):
    """Notable findings of the healthy twin that no small cost explains."""
    return [one for one in run.healthy.found if run.healthy.notable(one) and one.rule not in run.noise]


def planted_on_twin(run):
    return any(one.rule in run.rules for one in false_alarms(run))


def covered(run):
    return named(run).low <= run.saving <= named(run).high


def sharpness(runs):
    return statistics.median((named(run).high - named(run).low) / run.step for run in runs) if runs else None


def bias(runs):
    known = [run for run in runs if run.saving > 0]
    return statistics.median((named(run).low + named(run).high) / 2 / run.saving for run in known) if known else None


def says_the_word(run):
    return run.word.lower() in named(run).remedy.lower()


def avoided(caught):
    """Whether there is no finding of the kinds that the trap resembles."""
    return caught.answer.where(caught.trap.never) is None


def abstained(caught):
    """Whether the answer is "cannot tell", or says what the recording lacks without a finding of high confidence."""
    rows = {row.row for row in caught.answer.health}
    sure = any(one.confidence == "high" for one in caught.answer.found)
    return caught.answer.cannot_tell() or (bool(rows & set(caught.trap.health)) and not sure)


@dataclass(frozen=True)
class Said:
    """One finding and whether it was right."""
    seed: int
    level: str
    right: bool


def sayings(runs, caught):
    """The first finding of each faulty run, and every notable finding of runs without a fault."""
    out = []
    for run in runs:
        if run.faulty.found:
            first = run.faulty.found[0]
            out.append(Said(run.seed, first.confidence, first.rule in run.rules or first.rule in run.noise))
        out += [Said(run.seed, one.confidence, False) for one in false_alarms(run)]
    for one in caught:
        out += [Said(one.seed, found.confidence, False) for found in one.answer.found
                if found.rule in one.trap.never or (one.answer.notable(found) and one.trap.health)]
    return out


def limits(pair, which):
    """Whether repairing a cause saves 1 % of the step, now or after the other is repaired; a fully hidden cause saves nothing."""
    one, other = pair.savings[which], pair.savings[1 - which]
    return max(one, pair.joint - other) >= 0.01 * pair.step


def both_named(pair):
    """Whether the causes that limit are all among the first three findings."""
    places = [pair.answer.where(cause.rules) for which, cause in enumerate(pair.causes) if limits(pair, which)]
    return None not in places and max(places, default=0) < 3


def in_order(pair):
    """Whether findings are in the order of the single savings; savings within a tenth of each other, or 1 % of the step, have no order."""
    if not all(limits(pair, which) for which in (0, 1)):
        return True
    places = [pair.answer.where(cause.rules) for cause in pair.causes]
    if None in places:
        return False
    first, second = pair.savings
    if abs(first - second) <= max(0.1 * max(first, second), 0.01 * pair.step):
        return True
    return (places[0] < places[1]) == (first > second)


def modest(pair):
    """Whether the predicted joint saving is at most a quarter above the real one; without a joint range, the largest single range counts."""
    together = pair.answer.together
    if together is None:
        together = max(((one.low, one.high) for one in pair.answer.found if one.now), default=(0, 0), key=lambda r: r[1])
    return together[0] <= 1.25 * pair.joint and (together[0] + together[1]) / 2 <= 1.25 * pair.joint
