"""Measures a DataLoader inside its program, on loaders made like it. The loader itself is never iterated."""

from __future__ import annotations

import contextlib
import inspect
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from stepscope.trial import _processes, _statistics
from stepscope.trial._facts import holds_cuda
from stepscope.tune import _memory
from stepscope.tune._duel import Duel, Facts, Side
from stepscope.tune._refusals import copied, indices
from stepscope.tune._search import cores
from stepscope.tune._settings import Settings, settings_of

ENOUGH_S = 0.1
"""A pass is about as long, so that the clock and the scheduler matter little,"""
MOST_STEPS = 400
"""and has at most so many steps."""
MOST_ROUNDS = 12
FINAL_ROUNDS, MOST_FINAL_ROUNDS = 8, 24
TIMEOUT_S = 120.0
"""A batch that takes longer shows that workers hang."""
MOST_PICKLED = 64 * 2**20
"""Bytes of a dataset that workers may be sent."""
KEPT = ("worker_init_fn", "pin_memory_device", "in_order")
"""Arguments that stay as they are, where this PyTorch has them."""


class WithThreads:
    """A worker_init_fn that gives PyTorch so many threads in the worker."""

    def __init__(self, before: Callable[[int], None] | None, threads: int) -> None:
        self.before, self.threads = before, threads

    def __call__(self, worker: int) -> None:
        import torch

        torch.set_num_threads(self.threads)
        if self.before is not None:
            self.before(worker)


class LoaderMeter:
    """``step`` makes a training step of a batch; None: only loading is measured."""

    def __init__(self, torch: Any, loader: Any, steps: int, step: Callable[[Any], Any] | None, seconds: float) -> None:
        self.torch = torch
        self.loader = loader
        self.steps = steps
        self.step = step
        self.until = time.monotonic() + seconds
        self.current = settings_of(loader)
        self.is_iterable = isinstance(loader.dataset, torch.utils.data.IterableDataset)
        self.batches: list[Any] = []
        self.facts = Facts()
        self.made: dict[Settings, Any] = {}
        """Loaders whose workers live on."""

    def prepare(self) -> None:
        """Loads some batches, so that files are in the system's cache, and learns what can be tried."""
        torch, loader = self.torch, self.loader
        with contextlib.suppress(TypeError, NotImplementedError):
            self.facts.epoch = len(loader)
        if not self.is_iterable:
            self.batches = indices(torch, loader, copied(loader), MOST_STEPS)
            self.facts.epoch = self.facts.epoch or len(self.batches)
        side = Side()
        self.one_pass(self.current, side, self.steps)
        facts = self.facts
        facts.step = side.step
        self.steps = min(max(self.steps, int(ENOUGH_S / max(side.step / 1e9, 1e-6))), MOST_STEPS)
        facts.cores = cores()
        facts.has_device = torch.cuda.is_available()
        facts.has_step = self.step is not None
        facts.is_iterable = self.is_iterable
        facts.has_device_data = holds_cuda(loader.dataset)
        facts.sees_restarts = facts.epoch > 0
        facts.not_spawned = why_not_spawned(loader)
        whole = [one for one in self.batches if isinstance(one, (list, tuple))]
        facts.short_batch = len(whole) > 1 and len(whole) == facts.epoch and len(whole[-1]) < len(whole[0])
        facts.what = self.in_words()
        facts.steps = "a step loads a batch and calls step(batch)" if self.step is not None else "no step was given: only loading is measured"

    def in_words(self) -> str:
        size = "" if self.loader.batch_size is None else f", batches of {self.loader.batch_size}"
        passes = f", {self.facts.epoch} batches per pass" if self.facts.epoch else ""
        return f"DataLoader of {type(self.loader.dataset).__name__}{size}{passes}"

    def is_over(self) -> bool:
        return time.monotonic() > self.until

    def duel(self, before: Settings, after: Settings, final: bool = False) -> Duel:
        made = Duel(before, after)
        settings = before
        try:
            for settings in (before, after):  # a worker that lives on starts here
                if settings.persistent_workers:
                    self.one_pass(settings, Side(), 1)
            while not self.is_enough(made, final):
                order = [(before, made.first), (after, made.second)]
                for settings, side in order[:: 1 if len(made.shares) % 2 == 0 else -1]:
                    self.one_pass(settings, side, self.steps)
        except Exception as error:  # of the dataset, or of workers that cannot start
            if settings == self.current:
                raise
            lines = str(error).strip().splitlines() or [""]
            made.failed = f"{type(error).__name__}: {lines[-1]}"
        finally:
            self.end_workers()
        return made

    def is_enough(self, made: Duel, final: bool) -> bool:
        rounds = len(made.shares)
        if final:
            return rounds >= FINAL_ROUNDS and (made.is_settled or rounds >= MOST_FINAL_ROUNDS)
        return made.is_decided or rounds >= MOST_ROUNDS or (rounds >= _statistics.FEWEST and self.is_over())

    def one_pass(self, settings: Settings, side: Side, steps: int) -> None:
        """Start, steps until as many batches are prepared as the settings allow, the measured steps, and the rest."""
        cycle = max(settings.num_workers, 1)
        measured = -(-steps // cycle) * cycle  # each worker makes as many
        warm = settings.in_flight + 1
        iterator, first = self.started(settings, warm + measured + settings.in_flight)
        self.make(iterator, warm - 1)
        begun = self.now()
        waited = self.make(iterator, measured)
        step = (self.now() - begun) / measured
        side.memory = max(side.memory, self.memory(iterator))
        after = 0.0 if self.is_iterable else self.drained(iterator)
        del iterator
        restart = max(first - waited / measured, 0.0) + after
        side.loading.append(waited / measured)
        side.restart.append(restart)
        side.steps.append(step + (restart / self.facts.epoch if self.facts.epoch else 0.0))

    def started(self, settings: Settings, batches: int) -> tuple[Iterator[Any], float]:
        """An iterator that has given its first batch, and how long that took."""
        loader = self.made.get(settings) or self.loader_with(settings, batches)
        if settings.persistent_workers:
            self.made[settings] = loader
        if not self.is_iterable:
            limited: Batches = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
            limited.count = batches
        begun = time.perf_counter_ns()
        iterator = iter(loader)
        batch = next(iterator)
        took = float(time.perf_counter_ns() - begun)
        self.facts.batch = max(self.facts.batch, _memory.batch_bytes(batch))
        if self.step is not None:
            self.step(batch)
        return iterator, took

    def loader_with(self, settings: Settings, batches: int) -> Any:
        loader = self.loader
        given: dict[str, Any] = {name: value for name, value in settings.arguments().items() if value is not None}
        if not self.is_iterable:
            of_pass = self.batches
            if settings.drop_last and not self.current.drop_last and self.facts.short_batch:
                of_pass = of_pass[:-1]
            del given["drop_last"]
            chosen = Batches(of_pass, batches)
            given.update({"sampler": chosen, "batch_size": None} if loader.batch_sampler is None else {"batch_sampler": chosen})
        else:
            given["batch_size"] = loader.batch_size
            if loader.batch_size is None:
                del given["drop_last"]
        given.update({name: getattr(loader, name) for name in KEPT if getattr(loader, name, "")})
        given["collate_fn"] = loader.collate_fn
        if settings.num_workers:
            given["timeout"] = loader.timeout or TIMEOUT_S
        if settings.threads > 1:
            given["worker_init_fn"] = WithThreads(loader.worker_init_fn, settings.threads)
        return self.torch.utils.data.DataLoader(loader.dataset, **given)

    def make(self, iterator: Iterator[Any], steps: int) -> float:
        """Makes steps. The nanoseconds that they waited for batches."""
        step, clock = self.step, time.perf_counter_ns
        waited = 0
        for _ in range(steps):
            begun = clock()
            try:
                batch = next(iterator)
            except StopIteration:
                raise RuntimeError("the data ended before the measured steps did: ask for fewer steps") from None
            waited += clock() - begun
            if step is not None:
                step(batch)
        return float(waited)

    def now(self) -> int:
        """When all work until here is done, on a device too."""
        if self.torch.cuda.is_initialized():
            self.torch.cuda.synchronize()
        return time.perf_counter_ns()

    def drained(self, iterator: Iterator[Any]) -> float:
        """Takes the batches that are left. How long the end of the pass took."""
        while True:
            begun = time.perf_counter_ns()
            try:
                next(iterator)
            except StopIteration:
                return float(time.perf_counter_ns() - begun)

    def memory(self, iterator: Any) -> int:
        """Of this process and the iterator's workers."""
        workers = [one.pid for one in getattr(iterator, "_workers", ())]
        return _processes.memory([os.getpid(), *workers])

    def end_workers(self) -> None:
        for loader in self.made.values():
            loader._iterator = None  # PyTorch ends the workers of an iterator that nobody holds
        self.made.clear()


class Batches:
    """The first ``count`` indices of a pass that is repeated. As a sampler, it draws no random number."""

    def __init__(self, of_pass: list[Any], count: int) -> None:
        self.of_pass, self.count = of_pass, count

    def __iter__(self) -> Iterator[Any]:
        return (self.of_pass[number % len(self.of_pass)] for number in range(self.count))

    def __len__(self) -> int:
        return self.count


class Counted:
    """A file that keeps nothing, for pickling up to a limit."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: bytes) -> int:
        self.size += len(data)
        if self.size > MOST_PICKLED:
            raise OverflowError(f"its dataset takes more than {_memory.mib(MOST_PICKLED)} to send to a worker")
        return len(data)


def why_not_spawned(loader: Any) -> str:
    """Why workers cannot be started in other ways than now; they import the program's main file again."""
    main = sys.modules.get("__main__")
    path = getattr(main, "__file__", None)
    if main is None or path is None:
        return "new processes would import the main program, and this one is no file"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if "__name__" not in Path(path).read_text():
            return 'new processes would import the main program, which has no if __name__ == "__main__"'
    if inspect.getmodule(type(loader.dataset)) is None:
        return "new processes could not import its dataset"
    try:
        pickle.Pickler(Counted()).dump((loader.dataset, loader.collate_fn, loader.worker_init_fn))
    except Exception as error:
        return f"its dataset cannot be sent to a new process ({error})"
    return ""
