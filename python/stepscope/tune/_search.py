"""Which settings are tried: one factor at a time, workers first, each against the best before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from stepscope.tune import _memory
from stepscope.tune._duel import Duel, Facts, Meter
from stepscope.tune._settings import Settings, named

PREFETCHES = (2, 4)
SHORT_EPOCH_S = 3.0
"""Workers that start anew with each pass matter if a pass is shorter."""
FRUITLESS = 2
"""So many counts of workers in a row that save nothing end the search for more."""
Say = Callable[[str], None]


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Found:
    current: Settings
    best: Settings
    facts: Facts
    duels: list[Duel] = field(default_factory=list)
    confirmed: Duel | None = None
    """The settings now against the best, measured once more."""
    not_tried: list[tuple[str, str]] = field(default_factory=list)
    """A setting and the reason."""
    notes: list[str] = field(default_factory=list)


class Search:
    def __init__(self, meter: Meter, workers: Iterable[int] | None, also: Iterable[str], say: Say) -> None:
        self.meter = meter
        self.facts = meter.facts
        self.asked = None if workers is None else sorted(set(workers))
        self.also = set(also)
        self.say = say
        self.found = Found(meter.current, meter.current, meter.facts)
        self.worker = 0
        """Bytes of a worker."""

    @property
    def best(self) -> Settings:
        return self.found.best

    def run(self) -> Found:
        self.look_at_load()
        self.try_workers()
        self.try_prefetch()
        self.try_persistent()
        self.try_pinned()
        self.try_threads()
        self.try_context()
        self.try_drop_last()
        self.confirm()
        return self.found

    def look_at_load(self) -> None:
        with contextlib.suppress(OSError):
            load = os.getloadavg()[0]
            if load > self.facts.cores:
                self.found.notes.append(f"Other programs used the cores too (load {load:.1f} of {self.facts.cores}): intervals are wider for it.")

    def leave(self, what: str, why: str) -> None:
        if (what, why) not in self.found.not_tried:
            self.found.not_tried.append((what, why))

    def challenge(self, settings: Settings, factor: str) -> bool:
        """Measures ``settings`` against the best before. Whether they won."""
        best = self.best
        if settings == best or any(one.before == best and one.after == settings for one in self.found.duels):
            return False
        if self.meter.is_over():
            self.leave(factor, "the time for measuring was over")
            return False
        why = _memory.why_too_large(settings, best, self.worker, self.facts.batch)
        if why:
            self.leave(factor, why)
            return False
        self.say(f"{named(best, self.found.current)} against {named(settings, self.found.current)}")
        duel = self.meter.duel(best, settings)
        if duel.failed:
            self.leave(factor, f"it failed: {duel.failed}")
            return False
        self.found.duels.append(duel)
        more = settings.num_workers - best.num_workers
        if more and duel.first.memory and duel.second.memory:
            self.worker = max((duel.second.memory - duel.first.memory) // more, 0) or self.worker
        if duel.won:
            self.found.best = settings
        return duel.won

    def try_workers(self) -> None:
        if self.facts.has_device_data:
            self.leave("num_workers", "the dataset holds tensors of a device, which workers cannot use")
            return
        fruitless = 0
        for count in self.counts():
            if count == self.best.num_workers:
                fruitless = 0
                continue
            if self.challenge(self.with_workers(count), f"num_workers={count}"):
                fruitless = 0
            elif count > max(self.best.num_workers, self.found.current.num_workers):
                fruitless += 1
                if fruitless == FRUITLESS:
                    break

    def counts(self) -> list[int]:
        limit = self.facts.cores
        if self.asked is None:
            counts = {0, limit}
            count = 1
            while count <= limit:
                counts.add(count)
                count *= 2
        else:
            counts = set(self.asked)
        for count in sorted(counts):
            if count > limit:
                self.leave(f"num_workers={count}", f"there are {limit} cores")
        if self.asked is None and self.found.current.num_workers <= limit:
            self.leave(f"num_workers={2 * limit}", f"there are {limit} cores")
        if self.facts.is_iterable and self.found.current.num_workers:
            counts.discard(0)
        return sorted(count for count in counts if count <= limit)

    def with_workers(self, count: int) -> Settings:
        """Where passes are short, workers that live on: their start would hide what they save."""
        present = self.found.current
        seconds = self.facts.epoch * self.facts.step / 1e9
        lives_on = present.persistent_workers or (self.facts.sees_restarts and 0 < seconds < SHORT_EPOCH_S)
        return self.best.changed(num_workers=count, persistent_workers=lives_on)

    def try_prefetch(self) -> None:
        if not self.best.num_workers:
            self.leave("prefetch_factor", "without workers it has no effect")
            return
        for count in PREFETCHES:
            if count != self.best.prefetch_factor:
                self.challenge(self.best.changed(prefetch_factor=count), f"prefetch_factor={count}")

    def try_persistent(self) -> None:
        factor = "persistent_workers"
        if not self.best.num_workers:
            self.leave(factor, "without workers it has no effect")
        elif not self.facts.sees_restarts:
            self.leave(factor, "the measured steps are part of one pass over the data, and workers start once per pass")
        else:
            turned = not self.best.persistent_workers
            self.challenge(self.best.changed(persistent_workers=turned), f"{factor}={turned}")

    def try_pinned(self) -> None:
        factor = "pin_memory, non_blocking"
        if not self.facts.has_device:
            self.leave(factor, "without a device they have no effect")
            return
        if not self.facts.has_step:
            self.leave(factor, "they act on copies to the device, and no step was given that makes them")
            return
        if self.best.pin_memory and not self.best.non_blocking:
            self.challenge(self.best.changed(non_blocking=True), "non_blocking=True")
        elif not self.best.pin_memory:
            self.challenge(self.best.changed(pin_memory=True), "pin_memory=True")
            self.challenge(self.best.changed(pin_memory=True, non_blocking=True), factor)

    def try_threads(self) -> None:
        """Each worker has one thread; cores that are left could help it."""
        workers = self.best.num_workers
        each = self.facts.cores // workers if workers else 0
        if each < 2:
            self.leave("threads per worker", "no core is left for more than one each" if workers else "without workers they have no effect")
            return
        self.challenge(self.best.changed(threads=each), f"threads per worker={each}")

    def try_context(self) -> None:
        factor = "multiprocessing_context"
        if not self.best.num_workers:
            self.leave(factor, "without workers it has no effect")
        elif self.facts.not_spawned:
            self.leave(factor, self.facts.not_spawned)
        elif not self.facts.sees_restarts:
            self.leave(factor, "it acts on the start of workers, which the measured steps do not have")
        else:
            other = "forkserver" if self.best.multiprocessing_context in ("", "fork") else "fork"
            self.challenge(self.best.changed(multiprocessing_context=other), f"{factor}={other!r}")

    def try_drop_last(self) -> None:
        factor = "drop_last"
        if factor not in self.also:
            self.leave(factor, "it changes which data is used, so it is tried only if asked")
        elif not self.facts.short_batch:
            self.leave(factor, "the last batch is as large as the others, or is not among the measured ones")
        else:
            turned = not self.best.drop_last
            self.challenge(self.best.changed(drop_last=turned), f"{factor}={turned}")

    def confirm(self) -> None:
        """The range that is stated comes from rounds that chose nothing."""
        found = self.found
        if found.best == found.current:
            return
        self.say(f"{named(found.best, found.current)} once more against the settings now")
        duel = self.meter.duel(found.current, found.best, final=True)
        if duel.failed or not duel.won:
            why = duel.failed or "a second measurement showed no saving beyond chance. Other programs may have used the cores"
            found.notes.append(f"{named(found.best, found.current)} won first, but is not recommended: {why}.")
            found.best = found.current
            return
        found.confirmed = duel

    def interrupted(self) -> Found:
        """What is known by now. Settings that were not measured again are not recommended."""
        found = self.found
        if found.confirmed is None and found.best != found.current:
            found.notes.append(f"{named(found.best, found.current)} won, but was not measured again, as you interrupted.")
            found.best = found.current
        return found
