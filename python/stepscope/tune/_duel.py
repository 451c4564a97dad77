"""Two settings measured in turns, and when their difference is known well enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from stepscope.trial import _statistics
from stepscope.trial._statistics import Interval
from stepscope.tune._settings import Settings

CLEAR = 0.1
"""Of the step: a difference that is surely larger ends a duel after three rounds."""
QUANTILES = {3: 9.92, 4: 5.84, 5: 4.60}
"""Of Student's distribution, 99 % on both sides, by number of rounds."""
WORTH = 0.02
"""Of the step: a smaller saving is called equal."""
AGAIN = 2
"""So many times wider than the interval is the range that holds a second measurement: it has an error of its own,"""
BETWEEN_RUNS = 0.03
"""and runs differ by such a share of the step for reasons that one run does not show."""


@dataclass
class Side:
    """What was measured of one setting, a number per round."""

    steps: list[float] = field(default_factory=list)
    """Nanoseconds per step."""
    loading: list[float] = field(default_factory=list)
    """Nanoseconds per step that the loop waited for its batch."""
    restart: list[float] = field(default_factory=list)
    """Nanoseconds per pass over the data, beyond its steps; workers start then."""
    memory: int = 0
    """Bytes of all processes, while steps are made."""

    @property
    def step(self) -> float:
        return _statistics.median(sorted(self.steps)) if self.steps else math.nan

    @property
    def wait(self) -> float:
        return _statistics.median(sorted(self.loading)) if self.loading else math.nan


@dataclass
class Duel:
    """``shares``: of the first setting's step, what the second saves in each round."""

    before: Settings
    after: Settings
    first: Side = field(default_factory=Side)
    second: Side = field(default_factory=Side)
    failed: str = ""
    """Why the second could not be measured."""

    @property
    def shares(self) -> list[float]:
        return [(a - b) / a for a, b in zip(self.first.steps, self.second.steps) if a > 0]

    @property
    def saved(self) -> Interval:
        """Of the first setting's step, with its 95 % interval."""
        return _statistics.interval(self.shares)

    @property
    def won(self) -> bool:
        """Whether the second is faster beyond chance, by so much that it matters."""
        return self.is_clear > 0 or (_statistics.won(self.saved) and self.saved.middle > WORTH)

    @property
    def lost(self) -> bool:
        return self.is_clear < 0 or (self.saved.high < 0 and self.saved.middle < -WORTH)

    @property
    def is_clear(self) -> int:
        """1 if the second surely saves much, -1 if it surely costs much, else 0; by few rounds already."""
        shares = self.shares
        count = len(shares)
        if count < min(QUANTILES):
            return 0
        if count not in QUANTILES:
            found = self.saved
            return 1 if found.low > CLEAR else -1 if found.high < -CLEAR else 0
        mean = sum(shares) / count
        spread = math.sqrt(sum((one - mean) ** 2 for one in shares) / (count - 1) / count) * QUANTILES[count]
        return 1 if mean - spread > CLEAR else -1 if mean + spread < -CLEAR else 0

    @property
    def is_decided(self) -> bool:
        return self.is_clear != 0 or (len(self.shares) >= _statistics.FEWEST and _statistics.enough(self.saved, 1.0))

    @property
    def is_settled(self) -> bool:
        """Whether the range that is stated has a saving, or there is surely none."""
        return self.promise[0] > 0 or (self.is_decided and not self.won)

    @property
    def promise(self) -> tuple[float, float]:
        """Where the saving of a second measurement lies, as shares of the step."""
        found = self.saved
        if not math.isfinite(found.low):
            return (-math.inf, math.inf)
        apart = max(AGAIN * (found.middle - found.low), AGAIN * (found.high - found.middle), BETWEEN_RUNS)
        return (found.middle - apart, min(found.middle + apart, 1.0))


@dataclass
class Facts:
    """What decides which settings are worth trying."""

    what: str = ""
    """The loader in a few words."""
    cores: int = 1
    has_device: bool = False
    steps: str = ""
    """What was measured as a step."""
    has_step: bool = True
    """Whether steps do more than load."""
    is_iterable: bool = False
    epoch: int = 0
    """Batches of one pass over the data; 0 if unknown."""
    sees_restarts: bool = True
    """Whether what begins with each pass is part of the measured steps."""
    has_device_data: bool = False
    """Whether the dataset holds tensors of a device."""
    short_batch: bool = False
    """Whether the last batch of a pass is smaller."""
    batch: int = 0
    """Bytes of a batch."""
    step: float = 0.0
    """Nanoseconds of a step with the settings now."""
    not_spawned: str = ""
    """Why workers cannot be started by other means than now."""
    place: str = ""
    """Where the loader is made, as train.py:41."""


class Meter(Protocol):
    """What measures: a loader inside a program, or copies of a program."""

    facts: Facts
    current: Settings

    def duel(self, before: Settings, after: Settings, final: bool = False) -> Duel:
        """``final`` measures at least six rounds, for the range that is stated."""
        ...

    def is_over(self) -> bool:
        """Whether the time for measuring is over."""
        ...
