"""Profiles Lightning's trainer.

    from stepscope.profiler.lightning import StepscopeCallback

    Trainer(callbacks=[StepscopeCallback("runs", record_shapes=True)])
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from stepscope.profiler._training import TrainingProfiler

PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def callback_classes() -> tuple[type, ...]:
    """``Callback`` of the Lightning packages that are loaded, else of the first that is installed."""
    loaded = [sys.modules[name].Callback for name in PACKAGES if hasattr(sys.modules.get(name), "Callback")]
    if loaded:
        return tuple(loaded)
    for name in PACKAGES:
        try:
            return (importlib.import_module(name).Callback,)
        except ImportError:
            continue
    raise ImportError("stepscope.profiler.lightning needs Lightning; install lightning")


Callback: Any = type("Callback", callback_classes(), {})


class StepscopeCallback(TrainingProfiler, Callback):  # type: ignore[misc]
    """Records the steps of a fit, one per batch, into ``folder``; ``arguments`` are those of ``profile``."""

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        self.prepare(trainer.global_rank)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self.begin()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int, *others: Any) -> None:
        self.step()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self.end()

    def teardown(self, trainer: Any, pl_module: Any, stage: str | None = None) -> None:
        self.end()
