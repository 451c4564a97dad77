"""Measures settings on copies of a program: two run in turns, each with its settings given to the loader's constructor."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from stepscope.trial import _trials
from stepscope.trial._conductor import Block, Conductor, Copy, Ended, Failed
from stepscope.trial._trials import Limits, Result, Trials
from stepscope.trial.changes import Change
from stepscope.tune._duel import Duel, Facts, Side
from stepscope.tune._settings import Settings, named

LOOK = 8
"""Steps in which the loader is looked for."""
FINAL_TIMES, FINAL_TURNS = 2, 8
"""The last measurement may take so many times longer, and has so many turns at least."""


class NoLoader(Exception):
    """The program has no loader whose settings could be tried; the text says why."""


def change_named(name: str) -> Change:
    """A change as `stepscope try` knows them. What it does is told to the copy as settings."""
    return Change(key="loader_settings", name=name, answers=(), apply=lambda _: lambda: None, reason=lambda _: "", line=lambda _: "")


class Duels(Trials):
    """Trials in which the unchanged copy has settings, too."""

    def __init__(self, conductor: Conductor, told: dict[str, Any], limits: Limits, say: Callable[[str], None]) -> None:
        super().__init__(conductor, {}, limits, say)
        self.loader = told
        self.duel = Duel(Settings(), Settings())
        self.is_final = False

    def orders(self, changes: tuple[Change, ...], watches: bool) -> dict[str, Any]:
        settings = self.duel.after if changes else self.duel.before
        loader = {"path": self.loader["loader"]["path"], "settings": settings.told()}
        return {"by": self.loader["by"], "module": self.loader["module"], "calls": False, "program": {}, "changes": [], "loader": loader}

    def compared(self, a: Block, b: Block) -> None:
        for block, side in ((a, self.duel.first), (b, self.duel.second)):
            times = block.times[1:]
            side.steps.append(sum(times) / len(times))
            waits = block.told["loader"]["waits"][-len(times) :]
            side.loading.append(sum(waits) / len(times))

    def is_enough(self, differences: list[float], steps: list[float]) -> bool:
        if self.is_final:
            return len(self.duel.shares) >= FINAL_TURNS and self.duel.is_settled
        return self.duel.is_decided

    def judge(self, result: Result, differences: list[float], steps: list[float], losses: dict[int, float]) -> None:
        if not result.reason and not result.effects:
            result.reason = "the loader was not made again at the same place"


class ProgramMeter:
    """``steps``: of each turn, at least. ``seconds``: of each duel; ``total``: when no new one is begun."""

    def __init__(self, conductor: Conductor, steps: int, seconds: float, total: float, say: Callable[[str], None]) -> None:
        self.conductor = conductor
        self.steps = steps
        self.seconds = seconds
        self.total = total
        self.until = 0.0
        self.say = say
        self.current = Settings()
        self.facts = Facts()
        self.told: dict[str, Any] = {}
        self.first_step_s = 1.0
        self.limits = Limits(seconds)

    def look(self, limit_s: float) -> None:
        """Runs a first copy, and finds the loader of its steps. Raises NoLoader."""
        copy = self.conductor.start("look", {"by": "", "loader": {}})
        try:
            copy.await_hello(limit_s)
            self.first_step_s = time.monotonic() - copy.started
            self.learn(self.look_at(copy))
        except (Ended, Failed) as error:
            raise NoLoader(f"too few steps were seen: {error}{copy.last_words() if isinstance(error, Ended) else ''}") from error
        finally:
            copy.end()
        self.until = time.monotonic() + self.total

    def look_at(self, copy: Copy) -> Block:
        limit_s = self.limits.hang_s + 20 * LOOK * self.first_step_s
        block = copy.turn(LOOK, limit_s)
        if block.told["loader"].get("epoch", 0) > 0 and len(block.times) > 1:
            return block
        return copy.turn(LOOK, limit_s)

    def learn(self, block: Block) -> None:
        self.told = block.told
        loader, facts = block.told["loader"], self.facts
        if "path" not in loader:
            made = loader["loaders"]
            raise NoLoader("it makes no DataLoader" if not made else f"its main thread takes no batch of its {made} DataLoaders before a step ends")
        if loader["is_iterable"] and not loader["shares_work"]:
            raise NoLoader("its dataset is an IterableDataset: each worker would read all of it, unless it shares the work out by get_worker_info()")
        self.current = Settings(**loader["settings"])
        times = sorted(block.times)
        facts.step = times[len(times) // 2]
        for name in ("is_iterable", "has_device_data", "has_device", "epoch", "short_batch", "batch", "cores"):
            setattr(facts, name, loader[name])
        passes = f", {facts.epoch} batches per pass" if facts.epoch else ""
        facts.what = f"{loader['what']}{passes}"
        facts.place = loader["path"][0] if loader["path"] else ""
        seconds = facts.epoch * facts.step / 1e9
        facts.sees_restarts = 0 < seconds <= _trials.LONGEST_PERIOD_S
        facts.not_spawned = "a program's main file is imported again by workers that start in other ways"
        ends = "optimizer.step()" if block.told["by"] == "optimizer" else "the model's call"
        facts.steps = f"a step ends with {ends}"

    def is_over(self) -> bool:
        return time.monotonic() > self.until

    def duel(self, before: Settings, after: Settings, final: bool = False) -> Duel:
        limits = Limits(self.seconds * (FINAL_TIMES if final else 1), 0, self.limits.start_s, self.limits.hang_s)
        duels = Duels(self.conductor, self.told, limits, self.say)
        duels.first_step_s, duels.step_s = self.first_step_s, self.facts.step / 1e9
        duels.shortest = max(self.steps, self.full_queue(before), self.full_queue(after))
        duels.program_period = self.facts.epoch if self.facts.sees_restarts else 1
        duels.duel, duels.is_final = Duel(before, after), final
        result = duels.run((change_named(named(after, self.current)),), None)
        made = duels.duel
        made.first.memory, made.second.memory = result.memory
        made.failed = result.reason
        if not made.failed and not made.is_clear and not math.isfinite(made.saved.low):
            made.failed = f"too few steps to measure: {len(made.shares)} turns"
        return made

    def full_queue(self, settings: Settings) -> int:
        """Steps of a turn: what was prepared while the other copy had none must matter little."""
        return 2 * settings.in_flight
