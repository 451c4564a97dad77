"""Finds settings of a DataLoader by measuring them.

    from stepscope import tune

    found = tune.dataloader(loader, step=train_step)   # step(batch) makes a training step; without it, only loading is measured
    print(found)                                       # the table, step time over workers, and the line to write
    loader = DataLoader(data, batch_size=32, shuffle=True, **found.arguments)

``stepscope tune -- python train.py`` does the same for a whole program, which stays as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from stepscope._errors import UsageError
from stepscope.tune._result import Result, Row
from stepscope.tune._settings import Settings

__all__ = ["Result", "Row", "Settings", "dataloader"]

ALSO = ("drop_last",)


def dataloader(
    loader: Any,
    steps: int = 20,
    step: Callable[[Any], Any] | None = None,
    *,
    workers: Iterable[int] | None = None,
    also: Iterable[str] = (),
    seconds: float = 180.0,
    say: Callable[[str], None] | None = None,
) -> Result:
    """Measures settings of ``loader``, one factor at a time, and says which to use.

    ``steps``: of each measurement, at least; fast loaders get more. ``step(batch)`` is your training step; it does train. Without it, loading
    alone is measured. ``workers``: counts to try, by default 0, 1, 2, 4 … up to the cores. ``also=("drop_last",)`` tries what changes which
    data is used. ``seconds``: when no new setting is begun. ``say`` is called with a line for each comparison.

    The loader is left as it is, and so are the random states of Python, NumPy, PyTorch and of generators that its dataset holds. What
    the dataset itself keeps while it loads, e.g. a cache, stays. Raises UsageError for a loader that cannot be measured, and what
    the dataset or ``step`` raises with the settings now.
    """
    import torch

    from stepscope.tune._loader_meter import LoaderMeter
    from stepscope.tune._randomness import RandomState
    from stepscope.tune._refusals import why_not
    from stepscope.tune._result import result_of
    from stepscope.tune._search import Search

    if steps < 1:
        raise UsageError(f"steps={steps}: give 1 or more")
    unknown = [name for name in also if name not in ALSO]
    if unknown:
        raise UsageError(f"also={unknown[0]!r}: only {', '.join(ALSO)} can be asked for")
    with RandomState(torch, loader):
        why = why_not(torch, loader)
        if why:
            raise UsageError(f"the loader is not measured: {why}")
        meter = LoaderMeter(torch, loader, steps, step, seconds)
        meter.prepare()
        return result_of(Search(meter, workers, also, say or silent).run())


def silent(line: str) -> None:
    """Says nothing."""


def say_on_stderr(line: str) -> None:
    print(f"stepscope: {line}", file=sys.stderr, flush=True)
