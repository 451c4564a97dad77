"""What recording adds to a Python call with its return, and to an allocation with its free, compared with torch.profiler.

    python bench/collect/python_calls.py [ROUNDS]

Needs stepscope; rows of PyTorch are left out if it is not installed. Each round runs all variants in turn. Results are medians of
the thread's CPU time, in ns, and the quartiles of the rounds. `end` is the cost of stopping, per call.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from stepscope import _collect

try:
    import torch
except ImportError:
    torch = None

CALLS, MODULES, SAMPLES = 1, 2, 4
MEMORY = 2
REPEATS = 5000


def called() -> None: ...


def call_all() -> None:
    for _ in range(REPEATS):
        called()


def allocate_all() -> None:
    for _ in range(REPEATS):
        torch.empty(64)


@contextlib.contextmanager
def nothing() -> Iterator[None]:
    yield


@contextlib.contextmanager
def recording(asked: int, flags: int = 0) -> Iterator[None]:
    path = os.path.join(tempfile.gettempdir(), f"stepscope-bench-{os.getpid()}.stepscope")
    _collect.open(path, 64, flags)
    _collect.start()
    try:
        if asked and (reason := _collect.python_start(asked)):
            sys.exit(f"nothing is measured: {reason}")
        yield
    finally:
        _collect.python_stop()
        _collect.stop()
        _collect.close()
        os.unlink(path)


@contextlib.contextmanager
def of_torch(**options: bool) -> Iterator[None]:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **options):
        yield


Variants = dict[str, Callable[[], contextlib.AbstractContextManager[None]]]


def measure(work: Callable[[], None], variants: Variants, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """By variant: ns per repeat of the work, and ns per call of stopping the recording."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, variant in variants.items():
            with contextlib.ExitStack() as stack:
                stack.enter_context(variant())
                work()  # warm-up: registers names, claims segments
                begin = time.thread_time_ns()
                work()
                end = time.thread_time_ns()
            found[name].append(((end - begin) / REPEATS, (time.thread_time_ns() - end) / (2 * REPEATS)))
    return found


def table(title: str, found: dict[str, list[tuple[float, float]]]) -> None:
    base = statistics.median(inside for inside, _ in next(iter(found.values())))
    print(f"\n{title:44}{'ns':>9}{'added':>9}{'quarters':>17}{'end':>9}")
    for name, times in found.items():
        inside = [t for t, _ in times]
        low, _, high = statistics.quantiles(inside, n=4)
        middle = statistics.median(inside)
        stop = statistics.median(t for _, t in times)
        print(f"{name:44}{middle:9.1f}{middle - base:+9.1f}{low:8.1f}–{high:8.1f}{stop:9.1f}")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    print(f"Python {sys.version.split()[0]}, PyTorch {torch.__version__ if torch else 'not installed'}, {rounds} rounds")
    calls: Variants = {"nothing": nothing, "stepscope, calls": lambda: recording(CALLS)}
    if torch:
        calls["stepscope, modules only"] = lambda: recording(MODULES)
    if (3, 11) <= sys.version_info < (3, 14):
        calls["stepscope, samples"] = lambda: recording(SAMPLES)
    if torch:
        calls["torch.profiler, with_stack"] = lambda: of_torch(with_stack=True)
    table("a call and its return", measure(call_all, calls, rounds))
    if not torch:
        return
    before = measure(allocate_all, {"nothing": nothing}, rounds)
    from stepscope.profiler._observer import observer

    _collect.attach_torch(observer(torch), False, True)
    _collect.detach_torch()  # ops are no longer observed; the allocator still is
    allocations: Variants = {
        "our allocator, off": nothing,
        "stepscope, memory": lambda: recording(0, MEMORY),
        "torch.profiler, profile_memory (and ops)": lambda: of_torch(profile_memory=True),
    }
    table("torch.empty(64) and its end", {**before, **measure(allocate_all, allocations, rounds)})


main()
