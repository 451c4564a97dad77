"""Trials: an unchanged and a changed copy take turns, and their steps of equal numbers are compared."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stepscope.trial import _losses, _statistics
from stepscope.trial._conductor import Block, Conductor, Copy, Ended, Failed
from stepscope.trial._facts import Program
from stepscope.trial._statistics import Interval
from stepscope.trial.changes import Change

WARM = 5
"""First steps that are not counted."""
BLOCK_S = 0.12
"""A block is about as long,"""
SHORTEST, LONGEST = 4, 64
"""and has so many steps."""
LONGEST_PERIOD_S = 3.0
"""A block is as long as the program's period, e.g. an epoch, unless that is longer."""
ROUNDS = 3
"""So often a program that ends too early is started again."""
SLOW_START_S = 240.0
SLOW = 2
"""So many times the budget more is given to a program whose steps are too slow for an interval."""


@dataclass
class Limits:
    seconds: float = 60.0
    """Of one trial, with the starts of its copies."""
    steps: int = 0
    """Of one trial; 0: no limit."""
    start_s: float = 120.0
    """To the first step, at least."""
    hang_s: float = 30.0
    """For a block, at least."""


@dataclass
class Result:
    changes: tuple[Change, ...]
    name: str
    promised: tuple[int, int] | None = None
    """Nanoseconds per step, by the report."""
    reason: str = ""
    """Why there is no measurement; "" if there is one."""
    saved: Interval = field(default_factory=lambda: Interval(math.nan, -math.inf, math.inf))
    """Nanoseconds per step."""
    step: float = 0.0
    """Of the unchanged copy, nanoseconds."""
    blocks: int = 0
    note: str = ""
    loss: str = ""
    memory: tuple[int, int] = (0, 0)
    device_memory: tuple[int, int] = (0, 0)
    written: list[str] = field(default_factory=list)
    losses: dict[int, float] = field(default_factory=dict)
    """Of the changed copy."""
    effects: list[str] = field(default_factory=list)

    @property
    def won(self) -> bool:
        return not self.reason and _statistics.won(self.saved)


class Trials:
    def __init__(self, conductor: Conductor, program: dict[str, Any], limits: Limits, say: Callable[[str], None]) -> None:
        self.conductor = conductor
        self.told = program
        self.program = Program.from_told(program)
        self.limits = limits
        self.say = say
        self.first_step_s = 1.0
        """Until the program's own first step."""
        self.step_s = 1.0
        """A step of the program."""
        self.shortest = SHORTEST
        """Steps of a block, at least."""
        self.program_period = 1
        """Steps after which the program repeats itself, e.g. an epoch."""
        self.unchanged: dict[int, float] = {}
        """Losses of another unchanged copy."""

    def name_of(self, changes: tuple[Change, ...]) -> str:
        return " + ".join(one.label(self.program) if one.label is not None else one.name for one in changes)

    def limit(self, steps: int) -> float:
        """After so many seconds a copy is taken to hang."""
        return self.limits.hang_s + 20 * steps * self.step_s

    def run(self, changes: tuple[Change, ...], promised: tuple[int, int] | None) -> Result:
        result = Result(changes, self.name_of(changes), promised)
        differences: list[float] = []
        steps: list[float] = []
        losses: dict[int, float] = {}
        begun = time.monotonic()
        until = begun + self.limits.seconds
        try:
            for number in range(ROUNDS):
                round_begun = time.monotonic()
                pair = Pair(self, result, number % 2 == 1)
                try:
                    pair.start()
                    until = max(until, time.monotonic() + self.limits.seconds / 2)  # starts may be slow; measuring gets its half
                    pair.measure(differences, steps, losses, until)
                except Ended as end:
                    if not differences and number + 1 >= ROUNDS:
                        result.reason = f"{end}: too few to measure"
                finally:
                    pair.end()
                took = time.monotonic() - round_begun
                longest = (2 if len(differences) >= _statistics.FEWEST else 2 + SLOW) * self.limits.seconds
                if not pair.is_short or self.is_enough(differences, steps) or time.monotonic() + took > begun + longest:
                    break
        except Failed as failure:
            result.reason = str(failure)
        self.judge(result, differences, steps, losses)
        return result

    def compared(self, a: Block, b: Block) -> None:
        """Called for each pair of blocks, of the unchanged and of the changed copy."""

    def is_enough(self, differences: list[float], steps: list[float]) -> bool:
        return bool(steps) and _statistics.enough(_statistics.interval(differences), mean(steps))

    def judge(self, result: Result, differences: list[float], steps: list[float], losses: dict[int, float]) -> None:
        if result.reason:
            return
        if len(differences) < _statistics.FEWEST:
            result.reason = f"too few steps to measure: {len(differences)} blocks, and {_statistics.FEWEST} are needed"
            return
        if not result.effects:
            result.reason = "it changed nothing: the program does not do what it changes"
            return
        result.saved = _statistics.interval(differences)
        result.step, result.blocks = mean(steps), len(differences)
        if not _statistics.enough(result.saved, result.step):
            result.note = "wide interval"
        tolerance = max(one.tolerance for one in result.changes)
        compared = _losses.compare(losses, result.losses, tolerance)
        noise = _losses.compare(losses, self.another(losses), tolerance) if compared.first >= 0 else None
        kind = "output: " if self.program.by == "forward" and compared.steps else ""
        result.loss = kind + _losses.in_words(compared, tolerance, noise)

    def another(self, losses: dict[int, float]) -> dict[int, float]:
        """The losses of one more unchanged copy, whose gradients differ in their last bits: how far chance drives runs apart."""
        if not self.unchanged and losses:
            copy = self.conductor.start("again", {**self.orders((), False), "nudged": True})
            try:
                copy.await_hello(self.start_limit(()))
                steps = max(max(losses), 2) - 1
                block = copy.turn(steps, self.limit(steps))
                self.unchanged = block.losses
            except (Failed, Ended):
                self.unchanged = {}
            finally:
                copy.end()
        return self.unchanged

    def orders(self, changes: tuple[Change, ...], watches: bool) -> dict[str, Any]:
        told = {"by": self.program.by, "module": self.program.module, "calls": watches, "program": self.told}
        return {**told, "changes": [one.key for one in changes]}

    def start_limit(self, changes: tuple[Change, ...]) -> float:
        slow = SLOW_START_S if any(one.starts_slowly for one in changes) and self.limits.start_s >= 60 else 0.0
        return max(self.limits.start_s, 5 * self.first_step_s) + slow


class Pair:
    """An unchanged and a changed copy, from their start on."""

    def __init__(self, trials: Trials, result: Result, is_reversed: bool) -> None:
        self.trials = trials
        self.result = result
        self.is_reversed = is_reversed
        self.plain: Copy | None = None
        self.changed: Copy | None = None
        self.is_short = False
        """Whether the program ended before enough was measured."""

    def start(self) -> None:
        """Both make their first step at the same time."""
        trials, changes = self.trials, self.result.changes
        watches = any(one.watches_calls for one in changes)
        self.plain = trials.conductor.start("plain", trials.orders((), watches))
        self.changed = trials.conductor.start("changed", trials.orders(changes, watches))
        try:
            self.plain.await_hello(trials.start_limit(()))
        except Failed as failure:
            raise Failed(f"a second copy of the program cannot run beside the first: {failure}") from failure
        except Ended:
            self.is_short = True
            raise
        self.plain.stop()
        self.changed.await_hello(trials.start_limit(changes))
        self.changed.stop()
        if self.changed.hello.get("errors"):
            raise Failed("it could not be applied: " + "; ".join(self.changed.hello["errors"]))

    def measure(self, differences: list[float], steps: list[float], losses: dict[int, float], until: float) -> None:
        assert self.plain is not None and self.changed is not None
        try:
            size = self.warm_up(losses)
            self.alternate(size, differences, steps, losses, until)
        except Ended:
            self.is_short = True

    def warm_up(self, losses: dict[int, float]) -> int:
        """The size of a block."""
        assert self.plain is not None and self.changed is not None
        limits = self.trials.limits
        first = self.give(self.plain, WARM, self.trials.limit(WARM))
        losses.update(first.losses)
        slow = SLOW_START_S if any(one.starts_slowly for one in self.result.changes) and limits.hang_s >= 30 else 0.0
        other = self.give(self.changed, WARM, self.trials.limit(WARM) + slow)
        self.note(other)
        step = _statistics.median(sorted(first.times)) / 1e9
        size = max(min(math.ceil(BLOCK_S / max(step, 1e-6)), LONGEST), self.trials.shortest)
        period = self.trials.program_period
        if period > 1 and period * step <= LONGEST_PERIOD_S:
            size = math.ceil(size / period) * period
        return size

    def give(self, copy: Copy, steps: int, limit_s: float) -> Block:
        """A turn. Where the unchanged copy fails, so does the program itself: that is its end, not the change's fault."""
        try:
            return copy.turn(steps, limit_s)
        except Failed as failure:
            if copy is self.plain:
                raise Ended(f"the unchanged copy failed too: {failure}") from failure
            raise

    def alternate(self, size: int, differences: list[float], steps: list[float], losses: dict[int, float], until: float) -> None:
        """Blocks of equal step numbers, in the order A B B A: each copy is first as often as the other."""
        assert self.plain is not None and self.changed is not None
        trials, limits = self.trials, self.trials.limits
        is_plain_first = not self.is_reversed
        made = 0
        while True:
            order = (self.plain, self.changed) if is_plain_first else (self.changed, self.plain)
            pair: dict[str, Block] = {}
            for copy in order:
                pair[copy.name] = self.give(copy, size, trials.limit(size))
            a, b = pair[self.plain.name], pair[self.changed.name]
            losses.update(a.losses)
            self.note(b)
            counted = slice(1, None)  # the first step of a block may find cold caches
            number = len(a.times[counted])
            differences.append((sum(a.times[counted]) - sum(b.times[counted])) / number)
            steps.append(sum(a.times[counted]) / number)
            trials.compared(a, b)
            is_plain_first = not is_plain_first
            made += size
            if len(differences) % _statistics.FEWEST == 1:
                self.remember(a, b)
            if len(differences) >= _statistics.FEWEST:
                found = _statistics.interval(differences)
                trials.say(f"{self.result.name}: {len(differences)} blocks of {size} steps, {milliseconds(found)}")
            if trials.is_enough(differences, steps):
                break
            is_short = len(differences) < _statistics.FEWEST + 2  # with six, one disturbed block is an end of the interval
            if time.monotonic() > until + (SLOW * limits.seconds if is_short else 0) or (limits.steps and made + WARM >= limits.steps):
                break

    def note(self, block: Block) -> None:
        self.result.losses.update(block.losses)
        self.result.effects = block.told.get("effects", [])
        self.result.written = outside(block.told.get("written", []), self.trials.conductor)
        if block.told.get("errors"):
            raise Failed("; ".join(block.told["errors"]))

    def remember(self, a: Block, b: Block) -> None:
        """Memory of both, while both are stopped."""
        assert self.plain is not None and self.changed is not None
        self.result.memory = (self.plain.memory(), self.changed.memory())
        self.result.device_memory = (int(a.told.get("device_memory", 0)), int(b.told.get("device_memory", 0)))

    def end(self) -> None:
        for copy in (self.plain, self.changed):
            if copy is not None:
                copy.end()


def outside(written: list[str], conductor: Conductor) -> list[str]:
    """Files that the view does not protect."""
    view = conductor.view
    safe = [str(conductor.scratch), "/dev/", "/proc/"] + ([view.folder + "/"] if view.is_throwaway else [])
    return [path for path in written if not path.startswith(tuple(safe))]


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def milliseconds(found: Interval) -> str:
    if not math.isfinite(found.low):
        return f"{found.middle / 1e6:.2f} ms"
    return f"saves {found.middle / 1e6:.2f} ms ({found.low / 1e6:.2f} to {found.high / 1e6:.2f})"
