"""Profiles Hugging Face's trainer.

    from stepscope.profiler.transformers import StepscopeCallback

    with StepscopeCallback("runs", record_shapes=True) as callback:
        Trainer(..., callbacks=[callback]).train()

The trainer does not report exceptions to its callbacks, so the ``with`` block ends the recording.
"""

from __future__ import annotations

from typing import Any

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise ImportError(
        "stepscope.profiler.transformers needs transformers; install transformers"
    ) from error

from stepscope.profiler._training import TrainingProfiler


class StepscopeCallback(TrainingProfiler, TrainerCallback):  # type: ignore[misc]
    """Records the optimizer's steps of a training into ``folder``; ``arguments`` are those of ``profile``."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.prepare(args.process_index)
        self.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.step()

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.end()
