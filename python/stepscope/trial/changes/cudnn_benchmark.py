"""cuDNN measures its kernels for each new size and takes the fastest."""

from __future__ import annotations

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, effect


def apply(target: Target) -> Undo:
    cudnn = target.torch.backends.cudnn
    before = cudnn.benchmark
    cudnn.benchmark = True
    effect("cudnn.benchmark")

    def undo() -> None:
        cudnn.benchmark = before

    return undo


def reason(program: Program) -> str:
    if not program.has_cuda:
        return "no GPU works"
    return "cuDNN measures already" if program.benchmark else ""


CHANGE = Change(
    key="cudnn_benchmark",
    name="cudnn.benchmark = True",
    answers=("K08",),
    apply=apply,
    reason=reason,
    line=lambda program: "torch.backends.cudnn.benchmark = True",
    may_differ="rounding, and from run to run",
    starts_slowly=True,
)
