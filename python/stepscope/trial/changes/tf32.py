"""Matrix products and convolutions in fp32 use TF32 on matrix units."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, effect


def apply(target: Target) -> Undo:
    torch = target.torch
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    effect("TF32")
    return lambda: torch.set_float32_matmul_precision(before)


def reason(program: Program) -> str:
    if not program.has_cuda:
        return "no GPU works"
    return "TF32 is on already" if program.tf32 else ""


CHANGE = Change(
    key="tf32",
    name="TF32",
    answers=("P01",),
    apply=apply,
    reason=reason,
    line=lambda program: 'torch.set_float32_matmul_precision("high")',
    may_differ="losses: TF32 keeps 10 bits of each input's mantissa",
    tolerance=1e-2,
    group="precision",
)
