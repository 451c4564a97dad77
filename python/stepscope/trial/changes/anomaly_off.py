"""Anomaly detection is off."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, effect, replace


def apply(target: Target) -> Undo:
    """set_detect_anomaly() and detect_anomaly() both go through one function of PyTorch."""
    torch = target.torch
    original = torch.set_anomaly_enabled

    def off(mode: bool, check_nan: bool = True) -> None:
        if mode:
            effect("anomaly detection off")
        original(False, check_nan)

    before = torch.is_anomaly_enabled()
    original(False)
    back = replace(torch, "set_anomaly_enabled", off)

    def undo() -> None:
        back()
        original(before)

    return undo


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
