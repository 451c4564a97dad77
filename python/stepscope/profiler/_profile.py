"""``_KinetoProfile`` and ``profile``: record now, or the steps that a schedule names."""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from stepscope import _collect
from stepscope._errors import ProfilerError
from stepscope.profiler import _dataloader
from stepscope.profiler._activities import ProfilerActivity, chosen, supported_activities, wait_for_devices
from stepscope.profiler._config import captures_overloads, check_handler, check_observer, check_switches, warn_of_ignored
from stepscope.profiler._execution_trace import ExecutionTraceObserver
from stepscope.profiler._kineto import kineto_profile
from stepscope.profiler._metadata import checked_json, distributed_info
from stepscope.profiler._recording import FLOPS, MEMORY, MODULES, OVERLOADS, SHAPES, STACKS, Recording
from stepscope.profiler._results import Results
from stepscope.profiler._schedule import ProfilerAction

NONE, WARMUP, RECORD, SAVE = ProfilerAction
NEVER_ENDED = "the schedule goes from {} to {} and never to RECORD_AND_SAVE, so the steps in between are lost"


class _KinetoProfile(Results):
    """Records from start() to stop(). What a method needs and does not have, it says in a ProfilerError."""

    _gives_way = False
    """To a profiler that the program makes: nobody in it asked for this one."""

    def __new__(cls, *own: Any, backend: str = "stepscope", **arguments: Any) -> Any:
        if backend == "kineto":
            return kineto_profile(cls.__name__, arguments)
        if backend != "stepscope":
            raise ProfilerError(f'there is no backend {backend!r}; there are "stepscope" and "kineto"')
        return super().__new__(cls)

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool | Literal["sampled"] = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        path: str | os.PathLike[str] | None = None,
        megabytes: int = 256,
        backend: str = "stepscope",
    ) -> None:
        if with_stack is None:
            with_stack = False
        if with_stack not in (True, False, "sampled"):
            raise ProfilerError(f'with_stack is True, False or "sampled", not {with_stack!r}')
        check_switches(
            record_shapes=record_shapes, profile_memory=profile_memory, with_flops=with_flops, with_modules=with_modules, acc_events=acc_events
        )
        if not isinstance(megabytes, int) or not 1 <= megabytes <= 1 << 20:
            raise ProfilerError(f"megabytes is how much a recording may hold, from 1 to 1048576, not {megabytes!r}")
        check_observer(execution_trace_observer)
        if execution_trace_observer is None:
            execution_trace_observer = ExecutionTraceObserver.build_execution_trace_obs_from_env()
        super().__init__(
            SHAPES * bool(record_shapes or isinstance(execution_trace_observer, ExecutionTraceObserver))
            | MEMORY * bool(profile_memory)
            | STACKS * bool(with_stack)
            | FLOPS * bool(with_flops)
            | MODULES * bool(with_modules)
            | OVERLOADS * captures_overloads(experimental_config)
        )
        self.activities = chosen(activities)
        self.record_shapes = record_shapes or with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self._path = None if path is None else Path(os.path.abspath(path))
        self._megabytes = megabytes
        self._cycles = 0
        self._preset: dict[str, str] = {}
        self._trace_id: str | None = None
        self._is_on = self._is_recording = False
        self._began = 0.0
        if experimental_config is not None:
            warn_of_ignored(experimental_config)

    def start(self) -> None:
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Makes the file and attaches what sees ops; nothing is recorded yet."""
        if self._on is not None and not self._on.is_foreign:
            raise ProfilerError("the profiler is on already; stop it before it is started again")
        began = time.perf_counter()
        if not self.acc_events:
            self._forget()
        self._rows = self._events = self._on = None
        self._metadata = {}
        self._is_recording = False
        self._on = Recording(
            self._flags,
            self._next_path(),
            self._megabytes,
            with_ops=ProfilerActivity.CPU in self.activities,
            with_devices=self._has_devices(),
            sampled=self.with_stack == "sampled",
            gives_way=self._gives_way,
        )
        self._cycles += 1
        try:
            if ProfilerActivity.CPU in self.activities:
                _dataloader.follow(self, self._flags)
                _dataloader.show(self._on.path)
            self._trace_id = self._new_trace_id()
        except BaseException:
            self._give_up()
            raise
        self._times.profiler_prepare_call_duration_us = since(began)

    def start_trace(self) -> None:
        """Events are recorded from here on."""
        recording = self._recording_of_ours("start_trace")
        try:
            self._start(recording)
        except BaseException:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """What could not be started leaves nothing that would have to be stopped."""
        recording, self._on, self._is_recording = self._on, None, False
        if recording is not None:
            recording.stop()
        _dataloader.hide()
        if not self._is_on:
            _dataloader.unfollow(self)

    def _start(self, recording: Recording) -> None:
        began = time.perf_counter()
        if isinstance(self.execution_trace_observer, ExecutionTraceObserver):
            self.execution_trace_observer.borrow(recording)
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.start()
        recording.start()
        self._is_recording = True
        self._began = time.perf_counter()
        self._add("trace_id", json.dumps(self._trace_id))
        if (info := distributed_info()) is not None:
            self._add("distributedInfo", info)
        for key, value in self._preset.items():
            self._add(key, value)
        self._times.profiler_enable_call_duration_us = since(began)

    def stop_trace(self) -> None:
        """Events are recorded up to here; what was recorded can be read now."""
        recording = self._recording_of_ours("stop_trace")
        if not self._is_recording:
            raise ProfilerError("stop_trace() without start_trace(); call start_trace() first")
        began = time.perf_counter()
        self._times.profiling_window_duration_sec = began - self._began
        self._is_recording = False
        try:
            if self._has_devices():
                wait_for_devices()
            if self.execution_trace_observer is not None:
                self.execution_trace_observer.stop()
        finally:
            recording.stop()
            self._on = None
            self._finished.append(recording)
            _dataloader.hide()
            if not self._is_on:
                _dataloader.unfollow(self)
        self._times.profiler_disable_call_duration_us = since(began)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:
        """Switches the recording of ops off and on again within a cycle."""
        recording = self._recording_of_ours("toggle_collection_dynamic")
        if not self._is_recording:
            raise ProfilerError("toggle_collection_dynamic() before the profiler records; start it first")
        if ProfilerActivity.CPU in chosen(activities):
            recording.start() if enable else recording.pause()

    def add_metadata(self, key: str, value: str) -> None:
        """``value`` is a text, at the top of the trace."""
        self._add(key, json.dumps(str(value)))

    def add_metadata_json(self, key: str, value: str) -> None:
        """``value`` is JSON, at the top of the trace."""
        self._add(key, checked_json(key, value))

    def preset_metadata_json(self, key: str, value: str) -> None:
        """As add_metadata_json(), in each cycle that starts from here on."""
        self._preset[key] = checked_json(key, value)

    def get_trace_id(self) -> str | None:
        """Of the present or last cycle."""
        return self._trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Makes the id of each cycle from here on."""
        self.custom_trace_id_callback = callback

    def _new_trace_id(self) -> str:
        if self.custom_trace_id_callback is not None:
            return str(self.custom_trace_id_callback())
        return uuid.uuid4().hex.upper()

    def _next_path(self) -> Path | None:
        """``run.stepscope``, then ``run.2.stepscope`` and so on."""
        if self._path is None or self._cycles == 0:
            return self._path
        return self._path.with_name(f"{self._path.stem}.{self._cycles + 1}{self._path.suffix}")

    def _recording_of_ours(self, what: str) -> Recording:
        if self._on is None:
            raise ProfilerError(f"{what}() of a profiler that is not on; start it first")
        if self._on.is_foreign:
            raise ProfilerError(f"{what}() in a forked child: the recording is its parent's; make a profiler in the child")
        return self._on

    def _has_devices(self) -> bool:
        return ProfilerActivity.CUDA in self.activities and ProfilerActivity.CUDA in supported_activities()

    def _add(self, key: str, json_text: str) -> None:
        """Into the file while it is open, so that a killed program leaves it; else into what is exported."""
        if not isinstance(key, str) or not key or "=" in key:
            raise ProfilerError(f"the key of metadata is a text without '=', not {key!r}")
        if self._on is not None and not self._on.is_foreign:
            self._on.metadata(key, json_text)
        elif self._finished:
            self._metadata[key] = json_text
        else:
            self._preset[key] = json_text


class profile(_KinetoProfile):  # noqa: N801 (the name that it replaces)
    """Records the steps that ``schedule`` names, all without one, and calls ``on_trace_ready(self)`` after each cycle.

    ``path`` is where the recording goes, a temporary file without it; ``megabytes`` is what it may hold.
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], Any] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        use_cuda: bool | None = None,
        **others: Any,
    ) -> None:
        if use_cuda is not None:
            warnings.warn("use_cuda is deprecated; name the activities", FutureWarning, stacklevel=2)
        check_handler(on_trace_ready)
        super().__init__(activities=activities, **others)
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
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

    # In C: it calls _leave(), and _end_by_force() where that raises, be it before its first line.
    __exit__ = _collect.exit_method

    def _leave(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        try:
            if self._on is not None and self._on.is_foreign:
                return  # a forked child leaves its parent's block
            self.stop()
        except Exception:
            if error is None:
                raise
            self._end_by_force()  # the block's own error is what came first
        if (tracker := step_tracker()) is not None:
            tracker.erase_step_count(STEP_NAME)
        cleanup = getattr(self.execution_trace_observer, "cleanup", None)
        if cleanup is not None:
            cleanup()

    def _end_by_force(self) -> None:
        """An error of the program, or of a handler of signals, came between: nothing is left on, and what was recorded is kept."""
        self._is_on = False
        recording = self._on
        self._give_up()
        if recording is not None and recording.begun:
            self._finished.append(recording)

    def start(self) -> None:
        if self._is_on and not (self._on is not None and self._on.is_foreign):
            raise ProfilerError("the profiler was started already; stop it before it is started again")
        if ProfilerActivity.CPU in self.activities:
            _dataloader.follow(self, self._flags)
        try:
            self._transit(NONE, self.current_action)
        except BaseException:
            _dataloader.unfollow(self)
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
            if self._on is not None:  # a step() that an error ended left it
                self._end_by_force()
            _dataloader.unfollow(self)

    def step(self) -> None:
        """The next step begins."""
        self._must_be_on("step")
        self._end_step()
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
            raise ProfilerError(f"{what}() of a profiler that is not on; start it, or use it in a with block")
        if self._on is not None:
            self._recording_of_ours(what)

    def _action(self, step: int) -> ProfilerAction:
        """Schedules of torch.profiler serve too: their actions have the same names."""
        if self.schedule is None:
            return RECORD
        action = self.schedule(step)
        known = ProfilerAction.__members__.get(getattr(action, "name", ""))
        if known is None:
            raise ProfilerError(f"the schedule gave {action!r} for step {step}; it must give a ProfilerAction")
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
                self.prepare_trace()  # a schedule that left a recording for WARMUP prepared none
            try:
                getattr(self, act)()
            except Exception as error:
                if act != R:
                    raise
                of_the_program = error  # the next cycle begins all the same
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
"""Section by section what a change of the action does; None is the end."""


STEP_NAME = "ProfilerStep"


def step_tracker() -> Any:
    """What tells Kineto of steps, where a daemon may ask it to trace some; else None."""
    torch = sys.modules.get("torch")
    if torch is None or not os.environ.get("KINETO_USE_DAEMON"):
        return None
    return getattr(torch.autograd.profiler, "KinetoStepTracker", None)


def since(began: float) -> int:
    """In µs."""
    return int((time.perf_counter() - began) * 1e6)
