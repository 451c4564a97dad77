"""The columns that the engine reads from recordings; Python objects are made from them on access."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core
from stepscope._errors import ProfilerError

USER_SCOPE = 7
"""USER_SCOPE of at::RecordScope."""
BACKWARD_SCOPE = 1
"""BACKWARD_FUNCTION of at::RecordScope."""


class Inputs(NamedTuple):
    """Per set of inputs, a list with an element for each input."""

    shapes: list[list[Any]]
    """Sizes; of a list of tensors, []."""
    structured_shapes: list[list[Any]]
    """Sizes; of a list of tensors, those of each."""
    strides: list[list[Any]]
    types: list[list[str]]
    keywords: list[dict[str, Any]]
    """The keyword values of a kernel's range."""


def listed(texts: Sequence[str]) -> list[list[Any]]:
    return [json.loads(text) if text else [] for text in texts]


class Rows:
    """The events of several recordings. Times are in ns since their recording began, sizes in bytes."""

    def __init__(self, paths: Sequence[Path], with_memory: bool = False, with_flops: bool = False) -> None:
        self.paths = list(paths)
        self.with_memory = with_memory
        self.with_flops = with_flops
        self.recorded = _core.read_recordings([os.fsencode(path) for path in paths])

    def __len__(self) -> int:
        return len(self.recorded) if "recorded" in self.__dict__ else len(self.columns["name"])

    def __getstate__(self) -> dict[str, Any]:
        """Plain values only: the engine's objects cannot be copied or pickled."""
        for name in ("columns", "texts", "told", "concrete_inputs", "stacks", "use_device", "flows"):
            getattr(self, name)
        return {key: value for key, value in self.__dict__.items() if key != "recorded"}

    @cached_property
    def columns(self) -> dict[str, list[int]]:
        return dict(self.recorded.columns())

    @cached_property
    def texts(self) -> list[str]:
        return list(self.recorded.texts())

    @cached_property
    def told(self) -> Inputs:
        """What is told of each set of inputs."""
        return Inputs(
            shapes=listed(self.recorded.shapes()),
            structured_shapes=listed(self.recorded.structured_shapes()),
            strides=listed(self.recorded.strides()),
            types=listed(self.recorded.types()),
            keywords=[json.loads(text) if text else {} for text in self.recorded.keywords()],
        )

    @cached_property
    def flows(self) -> dict[int, tuple[int, bool]]:
        """The number of the arrow that leads from an op to its backward pass, by the rows of both; True: it begins there."""
        columns = self.columns
        forward: dict[tuple[int, int], int] = {}
        arrows: dict[int, tuple[int, bool]] = {}
        for row, sequence in enumerate(columns["sequence"]):
            if sequence < 0 or columns["scope"][row] > BACKWARD_SCOPE:
                continue
            thread = columns["forward_thread"][row]
            if columns["scope"][row] == BACKWARD_SCOPE and thread != 0:
                op = forward.pop((thread, sequence), -1)
                if op >= 0:
                    number = len(arrows) // 2 + 1
                    arrows[op], arrows[row] = (number, True), (number, False)
            elif thread == 0:
                forward[columns["thread"][row], sequence] = row
        return arrows

    @cached_property
    def concrete_inputs(self) -> list[list[Any]]:
        """Per set of inputs, the value of each input that is not a tensor."""
        return [[value_of(one) for one in json.loads(text)] if text else [] for text in self.recorded.concrete_inputs()]

    @cached_property
    def stacks(self) -> list[list[str]]:
        return [[self.texts[frame] for frame in stack] for stack in self.recorded.stacks()]

    @cached_property
    def use_device(self) -> str | None:
        """The kind of device that was recorded."""
        return "cuda" if self.recorded.has_devices else None

    @cached_property
    def launched(self) -> dict[int, list[int]]:
        """The rows of device work that each op launched."""
        out: dict[int, list[int]] = {}
        for row, launcher in enumerate(self.columns["launcher"]):
            if launcher >= 0:
                out.setdefault(launcher, []).append(row)
        return out

    @cached_property
    def children(self) -> dict[int, list[int]]:
        out: dict[int, list[int]] = {}
        for row, parent in enumerate(self.columns["parent"]):
            if parent >= 0:
                out.setdefault(parent, []).append(row)
        return out

    def averages(self, by_shapes: bool, stack_depth: int, by_overload: bool) -> dict[str, list[int]]:
        if "recorded" not in self.__dict__:
            raise ProfilerError("copied events cannot be averaged again; call key_averages() of the profiler and copy its result")
        return dict(self.recorded.averages(by_shapes, stack_depth, by_overload))


def value_of(text: str) -> Any:
    """The value of a text in ``Concrete Inputs``: ``"[1, 2]"`` is a list; None if it is not a literal."""
    if not text:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return float(text) if text in ("inf", "-inf", "nan") else None
