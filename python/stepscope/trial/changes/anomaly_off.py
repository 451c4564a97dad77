"""Anomaly detection is off."""

from __future__ import annotations

from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, effect, replace


def apply(target: Target) -> Undo:
    torch = target.torch
    original = torch._C._set_anomaly_enabled

    def off(mode: bool, *args: Any) -> None:
        if mode:
            effect("anomaly detection off")
        original(False, *args)

    before = torch.is_anomaly_enabled()
    original(False)
    back = [replace(owner, name, off) for owner, name in places(torch)]

    def undo() -> None:
        for one in back:
            one()
        original(before)

    return undo


def places(torch: Any) -> list[tuple[Any, str]]:
    """Where PyTorch's Python looks the switch up."""
    found = [(torch._C, "_set_anomaly_enabled"), (torch, "set_anomaly_enabled"), (torch.autograd.anomaly_mode.torch, "set_anomaly_enabled")]
    unique: list[tuple[Any, str]] = []
    for owner, name in found:
        if hasattr(owner, name) and not any(owner is other and name == known for other, known in unique):
            unique.append((owner, name))
    return unique


def reason(program: Program) -> str:
    return "" if program.anomaly else "anomaly detection is off already"


CHANGE = Change(
    key="anomaly_off",
    name="anomaly detection off",
    answers=("H14",),
    apply=apply,
    reason=reason,
    line=lambda program: "torch.autograd.set_detect_anomaly(False), and no detect_anomaly()",
    may_differ="an error for NaN gradients does not come",
)
