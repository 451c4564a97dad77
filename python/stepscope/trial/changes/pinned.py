"""Batches are loaded into pinned memory and copied to the device without waiting."""

from __future__ import annotations

from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at, replace
from stepscope.trial.changes._loaders import change_arguments


def apply(target: Target) -> Undo:
    torch = target.torch
    tensor = torch.Tensor
    undo_loaders = change_arguments(torch, lambda given: {} if given["pin_memory"] else {"pin_memory": True})
    original_to, original_cuda = tensor.to, tensor.cuda

    def to(self: Any, *args: Any, **named: Any) -> Any:
        if not self.is_cuda and "non_blocking" not in named and self.is_pinned():
            named["non_blocking"] = True
        return original_to(self, *args, **named)

    def cuda(self: Any, *args: Any, **named: Any) -> Any:
        if not self.is_cuda and len(args) < 2 and "non_blocking" not in named and self.is_pinned():
            named["non_blocking"] = True
        return original_cuda(self, *args, **named)

    undo_to, undo_cuda = replace(tensor, "to", to), replace(tensor, "cuda", cuda)

    def undo() -> None:
        undo_loaders()
        undo_to()
        undo_cuda()

    return undo


def reason(program: Program) -> str:
    if not program.has_cuda:
        return "no GPU works: pinned memory helps copies to one"
    if not program.loaders:
        return "the program makes no DataLoader"
    return "" if any(not one.given.get("pin_memory") for one in program.loaders) else "its DataLoaders pin memory already"


def line(program: Program) -> str:
    place = next((one.place for one in program.loaders if not one.given.get("pin_memory")), "")
    return f"DataLoader(..., pin_memory=True), and batch.to(device, non_blocking=True){at(place)}"


CHANGE = Change(
    key="pinned",
    name="pin_memory=True, non_blocking=True",
    answers=("C01", "C02", "C03"),
    apply=apply,
    reason=reason,
    line=line,
)
