"""The outermost module runs under autocast in bfloat16."""

from __future__ import annotations

from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, effect


def apply(target: Target) -> Undo:
    torch, around = target.torch, target.calls.around
    device = "cuda" if target.program.has_cuda else "cpu"

    def cast(module: Any) -> Any:
        effect("autocast")
        return torch.autocast(device, dtype=torch.bfloat16)

    around.append(cast)
    return lambda: around.remove(cast)


def reason(program: Program) -> str:
    if program.autocast:
        return "autocast is on already"
    if program.double:
        return "the model is in double precision, which autocast leaves alone"
    return "" if program.has_cuda or has_bfloat16() else "this CPU has no instructions for bfloat16"


def has_bfloat16() -> bool:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return "avx512_bf16" in file.read()
    except OSError:
        return False


def line(program: Program) -> str:
    device = "cuda" if program.has_cuda else "cpu"
    return f'with torch.autocast("{device}", dtype=torch.bfloat16):   # around the call of {program.model or "the model"}'


CHANGE = Change(
    key="autocast",
    name="autocast(bfloat16)",
    answers=("P01",),
    apply=apply,
    reason=reason,
    line=line,
    may_differ="losses: bfloat16 keeps 7 bits of each input's mantissa, so compare the curves of whole runs",
    tolerance=3e-2,
    watches_calls=True,
    group="precision",
)
