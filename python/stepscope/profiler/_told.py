"""What PyTorch is told while stepscope records: that a profiler is on. Dynamo, Inductor, data pipes and others mark their work only then."""

from __future__ import annotations

import sys
from typing import Any

from stepscope import _collect
from stepscope.profiler._triton import tell_triton

Told = list[tuple[Any, str, Any]]

told: Told = []
"""The parts of PyTorch that are replaced: owner, name, and what was there."""


def tell_torch(recording: bool) -> None:
    torch = sys.modules.get("torch")
    tell = getattr(sys.modules.get("torch.autograd.profiler"), "_set_is_profiler_enabled", None)  # from PyTorch 2.1 on
    tell_triton(recording)
    if torch is None:
        return
    its_own_runs = own_profiler_runs(torch)
    if tell is not None and not its_own_runs:
        tell(recording)
    if recording and its_own_runs:
        return
    put_back()  # also what an exception in the middle of an earlier call has left
    if recording:
        replace(torch.autograd, "_profiler_enabled", lambda: True)
        replace(getattr(torch._C, "_profiler", None), "_RecordFunctionFast", fast_range)


def own_profiler_runs(torch: Any) -> bool:
    ask = next((before for _, name, before in told if name == "_profiler_enabled"), torch.autograd._profiler_enabled)
    return bool(ask())


def replace(owner: Any, name: str, ours: Any) -> None:
    if hasattr(owner, name):
        told.append((owner, name, getattr(owner, name)))
        setattr(owner, name, ours)


def put_back() -> None:
    while told:
        owner, name, before = told[-1]
        setattr(owner, name, before)
        told.pop()


def fast_range(name: str, input_values: Any = None, keyword_values: Any = None) -> _collect.record_function:
    """Replaces PyTorch's ``_RecordFunctionFast``, whose ranges reach only PyTorch's own profiler."""
    if keyword_values and not all(isinstance(key, str) for key in keyword_values):
        raise RuntimeError("the keys of keyword_values must be texts")
    return _collect.record_function(name).as_op(input_values, keyword_values)
