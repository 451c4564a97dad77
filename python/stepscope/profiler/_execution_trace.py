"""``ExecutionTraceObserver``: writes PyTorch's execution trace from a finished recording."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

from stepscope import _core
from stepscope._errors import ProfilerError
from stepscope.profiler._recording import SHAPES, Recording, is_recorded

VARIABLE = "ENABLE_PYTORCH_EXECUTION_TRACE"


class ExecutionTraceObserver:
    """Writes ops with their callers and inputs as PyTorch's JSON.

    Passed as ``profile(execution_trace_observer=…)``, it covers that profiler's last cycle: a node's ``rf_id`` is the
    ``Record function id`` of the trace. Alone, it records between ``start()`` and ``stop()``. The file is written by
    ``unregister_callback()``, which ``cleanup()`` and the end of the profiler's block call.
    """

    def __init__(self) -> None:
        self.output_file_path = ""
        self.extra_resources_collection = False
        self._is_registered = self._is_running = False
        self._recording: Recording | None = None
        self._is_borrowed = False
        self._process_groups = ""

    def __del__(self) -> None:
        try:
            self.unregister_callback()
        except Exception as error:
            print(f"stepscope: the execution trace {self.output_file_path} was not written: {error}", file=sys.stderr)

    @staticmethod
    def build_execution_trace_obs_from_env() -> ExecutionTraceObserver | None:
        """An observer that writes to a temporary file, if ``ENABLE_PYTORCH_EXECUTION_TRACE`` is 1; else None."""
        if os.environ.get(VARIABLE, "0") != "1":
            return None
        descriptor, path = tempfile.mkstemp(suffix=".et.json")
        os.close(descriptor)
        return ExecutionTraceObserver().register_callback(path)

    def set_extra_resource_collection(self, val: bool) -> None:
        """Not supported: files of generated kernels are not collected."""
        if val:
            warnings.warn("files of generated kernels are not collected; only the trace is written", stacklevel=2)

    def get_resources_dir(self, can_create: bool = False) -> str | None:
        return None

    def register_callback(self, output_file_path: str | os.PathLike[str]) -> ExecutionTraceObserver:
        """Sets the file to write, compressed if its name ends in .gz. ProfilerError if its folder does not exist."""
        if self._is_registered:
            return self
        path = Path(output_file_path)
        if not path.absolute().parent.is_dir():
            raise ProfilerError(f"{path} cannot be written because its folder does not exist; create the folder first")
        self.output_file_path = os.path.abspath(output_file_path)
        self._is_registered = True
        return self

    def unregister_callback(self) -> None:
        """Writes the file. Does nothing without register_callback() or if nothing was recorded."""
        if not self._is_registered:
            return
        self.stop()
        self._is_registered = False
        recording, self._recording = self._recording, None
        if recording is None or recording.is_foreign:
            return
        if not self._is_borrowed:
            recording.stop()
        _core.export_execution_trace(os.fsencode(recording.path), os.fsencode(self.output_file_path), self._process_groups)

    cleanup = unregister_callback

    @property
    def is_registered(self) -> bool:
        return self._is_registered

    def is_running(self) -> bool:
        return self._is_running

    def get_output_file_path(self) -> str | None:
        return self.output_file_path or None

    def borrow(self, recording: Recording) -> None:
        """Uses a profiler's recording."""
        self._recording, self._is_borrowed = recording, True

    def start(self) -> None:
        """Starts recording. Does nothing without register_callback()."""
        if not self._is_registered or self._is_running:
            return
        if self._recording is None:
            if is_recorded():
                raise ProfilerError("a profiler is already recording; pass it this observer with profile(execution_trace_observer=…)")
            self._recording, self._is_borrowed = Recording(SHAPES), False
        if not self._is_borrowed:
            self._recording.start()
        self._is_running = True
        self._process_groups = process_groups()

    def stop(self) -> None:
        if not self._is_running:
            return
        self._is_running = False
        if self._recording is not None and not self._is_borrowed and not self._recording.is_foreign:
            self._recording.pause()


def process_groups() -> str:
    """The process groups of torch.distributed as JSON; "" if there are none."""
    torch = sys.modules.get("torch")
    dist = getattr(torch, "distributed", None)
    if dist is None or not dist.is_available() or not dist.is_initialized():
        return ""
    world = getattr(dist.distributed_c10d, "_world", None)
    return json.dumps(getattr(world, "pg_config_info", []), default=str)
