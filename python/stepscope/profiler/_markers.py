"""``emit_nvtx`` and ``emit_itt``: each op as a range in NVIDIA's and Intel's tools. PyTorch makes the ranges."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from stepscope._errors import ProfilerError


class Markers:
    """A block in which PyTorch reports each op to another tool, with ``record_shapes`` also its input shapes."""

    name = ""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes
        self._inner: Any = None

    def __enter__(self) -> Any:
        if not self.enabled:
            return self
        if self._inner is not None:
            raise ProfilerError(f"this {self.name} is already on; make another one for an inner block")
        inner = self._made()
        inner.__enter__()
        self._inner = inner
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        if self._inner is not None:
            inner, self._inner = self._inner, None
            inner.__exit__(kind, error, where)

    def _made(self) -> Any:
        try:
            import torch
        except ImportError:
            raise ProfilerError(f"{self.name} needs PyTorch; install torch") from None
        made = getattr(torch.autograd.profiler, self.name, None)
        if made is None or not self._can(torch):
            raise ProfilerError(f"{self.name} does not work here: {self._need}")
        return made(self.enabled, self.record_shapes)

    _need = ""

    def _can(self, torch: Any) -> bool:
        raise NotImplementedError


class emit_nvtx(Markers):  # noqa: N801 (the name that it replaces)
    name = "emit_nvtx"
    _need = "PyTorch sees no NVIDIA GPU"

    def _can(self, torch: Any) -> bool:
        return bool(torch.cuda.is_available() and torch.version.cuda)


class emit_itt(Markers):  # noqa: N801
    name = "emit_itt"
    _need = "this PyTorch was built without Intel's ITT"

    def _can(self, torch: Any) -> bool:
        itt = getattr(torch.profiler, "itt", None)
        return itt is not None and bool(itt.is_available())
