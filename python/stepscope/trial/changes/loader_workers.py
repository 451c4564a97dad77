"""Batches are loaded by worker processes instead of the training process."""

from __future__ import annotations

from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, Target, Undo, at
from stepscope.trial.changes._loaders import change_arguments

MOST = 8


def workers(program: Program) -> int:
    return max(min(program.cores, MOST), 1)


def apply(target: Target) -> Undo:
    number = workers(target.program)

    def choose(given: dict[str, Any]) -> dict[str, Any]:
        if given["num_workers"] or given["is_iterable"]:
            return {}
        return {"num_workers": number, "persistent_workers": True}

    return change_arguments(target.torch, choose)


def reason(program: Program) -> str:
    if not program.loaders:
        return "the program makes no DataLoader"
    if all(one.given.get("num_workers") for one in program.loaders):
        return "all its DataLoaders have workers"
    left = [one for one in program.loaders if not one.given.get("num_workers")]
    if all(one.given.get("is_iterable") for one in left):
        return "the dataset is an IterableDataset: each worker would read all of it, unless it shares the work out by get_worker_info()"
    if any(one.given.get("has_cuda") for one in left):
        return "the dataset holds tensors of the GPU, which forked workers cannot use"
    return ""


def line(program: Program) -> str:
    place = next((one.place for one in program.loaders if not one.given.get("num_workers")), "")
    return f"DataLoader(..., num_workers={workers(program)}, persistent_workers=True){at(place)}"


CHANGE = Change(
    key="loader_workers",
    name="DataLoader(num_workers=N)",
    answers=("I01", "I05"),
    apply=apply,
    reason=reason,
    line=line,
    label=lambda program: f"DataLoader(num_workers={workers(program)}, persistent_workers=True)",
    may_differ="random numbers that the dataset draws, and from the second pass on those of the program: persistent workers take no new seed",
    group="workers",
)
