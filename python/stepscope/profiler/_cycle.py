"""``_KinetoProfile``: records between two calls."""

from __future__ import annotations

import inspect
import json
import os
import time
import uuid
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from stepscope._errors import ProfilerError
from stepscope.profiler import _dataloader
from stepscope.profiler._activities import ProfilerActivity, chosen, shown, supported, wait_for_devices
from stepscope.profiler._activity_configs import left_out
from stepscope.profiler._config import CAPTURED_OVERLOADS, COLLECTIONS, asks_for, check_observer, check_switches, check_timeout, warn_of_ignored
from stepscope.profiler._execution_trace import ExecutionTraceObserver
from stepscope.profiler._kineto import kineto_instead, kineto_profile
from stepscope.profiler._metadata import check_text, checked_json, distributed_info, machine_info
from stepscope.profiler._recording import FLOPS, MEMORY, MODULES, NEWEST, OVERLOADS, SHAPES, STACKS, Recording
from stepscope.profiler._results import ProfilerStats, Results, since
from stepscope.profiler._sources import name_lines


class OwnSignature:
    """What ``inspect.signature`` shows of a class: the parameters of its ``__init__``, not those of ``__new__``."""

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        whole = inspect.signature(owner.__init__)  # type: ignore[misc]
        return whole.replace(parameters=list(whole.parameters.values())[1:])


class _KinetoProfile(Results):
    """Records from start() to stop(). A method that is not possible in the current state raises ProfilerError."""

    __signature__ = OwnSignature()

    _gives_way = False
    """Whether a profiler that the program makes takes over, because the program did not ask for this one."""

    def __new__(cls, *own: Any, backend: str | None = None, **arguments: Any) -> Any:
        if backend == "kineto":
            return kineto_profile(cls.__name__, arguments)
        if backend not in (None, "stepscope"):
            raise ProfilerError(f'there is no backend {backend!r}; use "stepscope" or "kineto"')
        if reason := kineto_instead(arguments, backend is None and cls.__module__.startswith("stepscope.")):
            warnings.warn(f"torch.profiler records instead of stepscope: {reason}", stacklevel=2)
            return kineto_profile(cls.__name__, {key: value for key, value in arguments.items() if key not in ("megabytes", "keep")})
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
        keep: Literal["oldest", "newest"] = "oldest",
        backend: str | None = None,
    ) -> None:
        if with_stack is None:
            with_stack = False
        if with_stack not in (True, False, "sampled"):
            raise ProfilerError(f'with_stack must be True, False or "sampled", not {with_stack!r}')
        check_switches(
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_flops=with_flops,
            with_modules=with_modules,
            acc_events=acc_events,
        )
        if not isinstance(megabytes, int) or not 1 <= megabytes <= 1 << 20:
            raise ProfilerError(f"megabytes, the maximum size of a recording, must be a whole number from 1 to 1048576, not {megabytes!r}")
        if keep not in ("oldest", "newest"):
            raise ProfilerError(f'keep, which events stay in a full recording, must be "oldest" or "newest", not {keep!r}')
        check_timeout(post_processing_timeout_s)
        check_observer(execution_trace_observer)
        if execution_trace_observer is None:
            execution_trace_observer = ExecutionTraceObserver.build_execution_trace_obs_from_env()
        super().__init__(
            SHAPES * bool(record_shapes or with_flops or isinstance(execution_trace_observer, ExecutionTraceObserver))
            | MEMORY * bool(profile_memory)
            | STACKS * bool(with_stack)
            | FLOPS * bool(with_flops)
            | MODULES * bool(with_modules)
            | OVERLOADS * asks_for(experimental_config, CAPTURED_OVERLOADS)
            | NEWEST * (keep == "newest")
        )
        self._chosen = chosen(activities)
        configs = {activity.name: config for activity, config in self._chosen.configs.items()}
        self._left_out = left_out((activity.name for activity in self._chosen.activities), configs)
        self.activities = {shown(activity) for activity in self._chosen.activities}
        self.activity_configs = {shown(activity): config for activity, config in self._chosen.configs.items()}
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.preset_metadata: dict[str, str] = {}
        self._path = None if path is None else Path(os.path.abspath(path))
        self._megabytes = megabytes
        self._cycles = 0
        self._trace_id: str | None = None
        self._with_collections = bool(with_stack) and asks_for(experimental_config, COLLECTIONS)
        self._is_on = self._is_recording = self._is_job_told = False
        self._began = 0.0
        if experimental_config is not None:
            warn_of_ignored(experimental_config)

    def start(self) -> None:
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Creates the file and attaches the op observer; nothing is recorded yet."""
        if self._on is not None and not self._on.is_foreign:
            raise ProfilerError("the profiler is already on; stop it before you start it again")
        began = time.perf_counter()
        if not self.acc_events:
            self._forget()
        self._rows = self._events = self._on = None
        self._metadata = {}
        self._times = ProfilerStats()
        self._is_recording = False
        self._on = Recording(
            self._flags,
            self._next_path(),
            self._megabytes,
            with_ops=ProfilerActivity.CPU in self._chosen.activities,
            with_devices=self._has_devices(),
            with_collections=self._with_collections,
            sampled=self.with_stack == "sampled",
            gives_way=self._gives_way,
        )
        self._began_ns = time.time_ns()
        self._cycles += 1
        try:
            if ProfilerActivity.CPU in self._chosen.activities:
                _dataloader.follow(self, self._flags)
                _dataloader.show(self._on.path)
            self._trace_id = self._new_trace_id()
        except BaseException:
            self._give_up()
            raise
        self._times.profiler_prepare_call_duration_us = since(began)

    def start_trace(self) -> None:
        """Starts recording events."""
        recording = self._recording_of_ours("start_trace")
        try:
            self._start(recording)
        except BaseException:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """Turns everything off after a failed start."""
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
        self._add("machineInfo", machine_info())
        self._is_job_told = False
        self.tell_job()
        for key, value in self.preset_metadata.items():
            self._add(key, value)
        self._times.profiler_enable_call_duration_us = since(began)

    def tell_job(self) -> None:
        """Writes the process's rank, once there is a process group."""
        if not self._is_job_told and (info := distributed_info()) is not None:
            self._add("distributedInfo", info)
            self._is_job_told = True

    def stop_trace(self) -> None:
        """Stops recording; results can be read now."""
        recording = self._recording_of_ours("stop_trace")
        if not self._is_recording:
            raise ProfilerError("stop_trace() was called without start_trace(); call start_trace() first")
        began = time.perf_counter()
        self._times.profiling_window_duration_sec = began - self._began
        self._is_recording = False
        try:
            if self._has_devices():
                wait_for_devices()
            if self.execution_trace_observer is not None:
                self.execution_trace_observer.stop()
        finally:
            name_lines(recording)
            recording.stop()
            self._on = None
            self._finished.append(recording)
            _dataloader.hide()
            if not self._is_on:
                _dataloader.unfollow(self)
        self._times.profiler_disable_call_duration_us = since(began)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:
        """Pauses and resumes recording within a cycle, if ``activities`` names the CPU. Before the first cycle it does nothing."""
        if self._cycles == 0:
            return
        recording = self._recording_of_ours("toggle_collection_dynamic")
        if not self._is_recording:
            raise ProfilerError("toggle_collection_dynamic() was called before the profiler records; start it first")
        if ProfilerActivity.CPU in chosen(activities).activities:
            recording.start() if enable else recording.pause()

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a text to the top of the trace."""
        check_text(key, value)
        self._add(key, json.dumps(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        """Adds JSON text to the top of the trace. ProfilerError if it is not JSON."""
        self._add(key, checked_json(key, value))

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Like add_metadata_json(), for each cycle that starts later."""
        self.preset_metadata[key] = checked_json(key, value)

    def get_trace_id(self) -> str | None:
        """The id of the current or last cycle."""
        return self._trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Sets the function that makes the ids of later cycles."""
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
            raise ProfilerError(f"{what}() was called on a profiler that is not on; start it first")
        if self._on.is_foreign:
            raise ProfilerError(f"{what}() in a forked child: the recording belongs to the parent; make a profiler in the child")
        return self._on

    def _has_devices(self) -> bool:
        return ProfilerActivity.CUDA in self._chosen.activities and ProfilerActivity.CUDA in supported()

    def _add(self, key: str, json_text: str) -> None:
        """Writes into the open file, so that it survives a kill, and keeps it for the export, where the last value of a key counts."""
        if not isinstance(key, str) or not key or "=" in key:
            raise ProfilerError(f"a metadata key must be a text without '=', not {key!r}")
        if self._on is not None and not self._on.is_foreign:
            self._on.metadata(key, json_text)
            self._metadata[key] = json_text
        elif self._finished:
            self._metadata[key] = json_text
        else:
            self.preset_metadata[key] = json_text
