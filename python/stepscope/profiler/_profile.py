"""``profile``: records at once, or the steps that a schedule selects."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Literal

from stepscope import _collect
from stepscope._errors import ProfilerError
from stepscope.profiler import _dataloader
from stepscope.profiler._activities import ProfilerActivity
from stepscope.profiler._config import ArgumentError, check_handler
from stepscope.profiler._cycle import _KinetoProfile
from stepscope.profiler._memory_history import MemoryHistory
from stepscope.profiler._schedule import ProfilerAction

NONE, WARMUP, RECORD, SAVE, DEVICE_STOPPED = ProfilerAction
NEVER_ENDED = "the schedule goes from {} to {} without RECORD_AND_SAVE, so the unsaved steps are lost"


class profile(_KinetoProfile):  # noqa: N801 (the name that it replaces)
    """Records the steps that ``schedule`` selects, or all, and calls ``on_trace_ready(self)`` after each cycle.

    ``path`` is the recording's file, by default a temporary one; ``megabytes`` is its maximum size,
    and ``keep`` says which events stay when it is full. ``memory_history`` is a folder for memory snapshots, or a MemoryHistory;
    it is on from start() to stop(), whatever the schedule says, and step() is its step.
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], Any] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool | Literal["sampled"] = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        path: str | os.PathLike[str] | None = None,
        megabytes: int = 256,
        keep: Literal["oldest", "newest"] = "oldest",
        memory_history: MemoryHistory | str | os.PathLike[str] | None = None,
        backend: str | None = None,
    ) -> None:
        if use_cuda is not None:
            warnings.warn("use_cuda is deprecated; use activities instead", FutureWarning, stacklevel=2)
        check_handler(on_trace_ready)
        super().__init__(
            activities=activities,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s,
            path=path,
            megabytes=megabytes,
            keep=keep,
            backend=backend,
        )
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.memory_history = MemoryHistory(memory_history) if isinstance(memory_history, (str, os.PathLike)) else memory_history
        self.step_num = 0
        self.current_action = self._action(0)
        self._mark: _collect.record_function | None = None

    def __enter__(self) -> profile:
        was_on = self._is_on
        try:
            self.start()
            return self
        except BaseException:
            if not was_on:
                self._end_by_force()
            raise

    # In C: it calls _leave(), and _end_by_force() if that raises, even before its first line.
    __exit__ = _collect.exit_method

    def _leave(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        try:
            if self._on is not None and self._on.is_foreign:
                return  # a forked child leaves its parent's block
            self.stop()
        except Exception:
            if error is None:
                raise
            self._end_by_force()  # the block's own error came first and is raised
        if (tracker := step_tracker()) is not None:
            tracker.erase_step_count(STEP_NAME)
        cleanup = getattr(self.execution_trace_observer, "cleanup", None)
        if cleanup is not None:
            cleanup()

    def _end_by_force(self) -> None:
        """After an error of the program or of a signal handler: turns everything off and keeps what was recorded."""
        self._is_on = False
        recording = self._on
        self._give_up()
        if recording is not None and recording.begun:
            self._finished.append(recording)

    def start(self) -> None:
        if self._is_on and not (self._on is not None and self._on.is_foreign):
            raise ProfilerError("the profiler is already started; stop it before you start it again")
        if ProfilerActivity.CPU in self._chosen.activities:
            _dataloader.follow(self, self._flags)
        try:
            if self.memory_history is not None:
                self.memory_history.start()
            self._transit(NONE, self.current_action)
        except BaseException:
            self._unfollow()
            raise
        self._is_on = True
        self._begin_step()

    def stop(self) -> None:
        self._must_be_on("stop")
        self._end_step()
        self._is_on = False
        try:
            self._transit(self.current_action, None)
        finally:
            if self._on is not None:  # left over from a step() that raised
                self._end_by_force()
            self._unfollow()

    def _unfollow(self) -> None:
        _dataloader.unfollow(self)
        if self.memory_history is not None:
            self.memory_history.stop()

    def step(self) -> None:
        """Ends the current step and begins the next."""
        self._must_be_on("step")
        self._end_step()
        if self.memory_history is not None:
            self.memory_history.step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self._action(self.step_num)
        try:
            self._transit(before, self.current_action)
        finally:
            if (tracker := step_tracker()) is not None:
                tracker.increment_step(STEP_NAME)
            self._begin_step()

    def _must_be_on(self, what: str) -> None:
        if not self._is_on:
            raise ProfilerError(f"{what}() was called on a profiler that is not on; start it, or use it in a with block")
        if self._on is not None:
            self._recording_of_ours(what)

    def _action(self, step: int) -> ProfilerAction:
        """The action for a step, matched by name, so torch.profiler's schedules work, too."""
        if self.schedule is None:
            return RECORD
        action = self.schedule(step)
        known = ProfilerAction.__members__.get(getattr(action, "name", ""))
        if known is None:
            raise ProfilerError(f"the schedule returned {action!r} for step {step}; it must return a ProfilerAction")
        if known is DEVICE_STOPPED:
            raise ArgumentError(f"the schedule returned DEVICE_STOPPED for step {step}, which only PyTorch's profiler may set")
        return known

    def _begin_step(self) -> None:
        if self.schedule is not None:
            self._mark = _collect.record_function(f"ProfilerStep#{self.step_num}")
            self._mark.__enter__()

    def _end_step(self) -> None:
        if self._mark is not None:
            self._mark.__exit__(None, None, None)
            self._mark = None

    def _transit(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        of_the_program: Exception | None = None
        for act in TRANSITIONS[before, after]:
            if act == "warn":
                warnings.warn(NEVER_ENDED.format(before.name, NONE.name if after is None else after.name), stacklevel=3)
                continue
            if act == S and self._on is None:
                self.prepare_trace()  # the schedule went from recording to WARMUP, which prepares nothing
            try:
                getattr(self, act)()
            except Exception as error:
                if act != R:
                    raise
                of_the_program = error  # raised only after the next cycle has begun
        if of_the_program is not None:
            raise of_the_program

    def _trace_ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)


P, S, T, R = "prepare_trace", "start_trace", "stop_trace", "_trace_ready"
TRANSITIONS: dict[tuple[ProfilerAction, ProfilerAction | None], tuple[str, ...]] = {
    (NONE, NONE): (),
    (NONE, WARMUP): (P,),
    (NONE, RECORD): (P, S),
    (NONE, SAVE): (P, S),
    (NONE, None): (),
    (WARMUP, NONE): (S, T, "warn"),
    (WARMUP, WARMUP): (),
    (WARMUP, RECORD): (S,),
    (WARMUP, SAVE): (S,),
    (WARMUP, None): (S, T),
    (RECORD, NONE): (T, "warn"),
    (RECORD, WARMUP): (T, "warn"),
    (RECORD, RECORD): (),
    (RECORD, SAVE): (),
    (RECORD, None): (T, R),
    (SAVE, NONE): (T, R),
    (SAVE, WARMUP): (T, R, P),
    (SAVE, RECORD): (T, R, P, S),
    (SAVE, SAVE): (T, R, P, S),
    (SAVE, None): (T, R),
}
"""The methods to call when the action changes; None is the end of the program's steps."""


STEP_NAME = "ProfilerStep"


def step_tracker() -> Any:
    """Kineto's step counter, for a daemon that asks for steps; None without a daemon."""
    torch = sys.modules.get("torch")
    if torch is None or not os.environ.get("KINETO_USE_DAEMON"):
        return None
    return getattr(torch.autograd.profiler, "KinetoStepTracker", None)
