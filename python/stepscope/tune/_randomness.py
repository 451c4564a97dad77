"""Keeps random states, so that a measurement changes no number that the program draws later."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

MAX_OBJECTS = 5000
"""Looked at in search of generators,"""
MAX_PARTS = 50
"""of each list or dictionary the first so many."""


class RandomState:
    """The states of Python's, NumPy's and PyTorch's generators, and of those that ``roots`` hold, are restored at the block's end."""

    def __init__(self, torch: Any, *roots: Any) -> None:
        self.torch = torch
        self.generators = generators_in(torch, roots)
        self.restoring: list[Callable[[], Any]] = []

    def __enter__(self) -> RandomState:
        torch = self.torch
        keep = self.keep
        keep(random.getstate(), random.setstate)
        keep(torch.get_rng_state(), torch.set_rng_state)
        if torch.cuda.is_initialized():
            keep(torch.cuda.get_rng_state_all(), torch.cuda.set_rng_state_all)
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            keep(numpy.random.get_state(), numpy.random.set_state)
        for one in self.generators:
            self.keep_generator(one)
        return self

    def keep(self, state: Any, restore: Callable[[Any], Any]) -> None:
        self.restoring.append(lambda: restore(state))

    def keep_generator(self, one: Any) -> None:
        if isinstance(one, random.Random):
            self.keep(one.getstate(), one.setstate)
        elif hasattr(one, "bit_generator"):
            bits = one.bit_generator
            self.keep(bits.state, lambda state: setattr(bits, "state", state))
        else:  # of PyTorch, or a RandomState of NumPy
            self.keep(one.get_state(), one.set_state)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        for restore in self.restoring:
            restore()
        self.restoring.clear()


def generators_in(torch: Any, roots: tuple[Any, ...]) -> list[Any]:
    """Random generators that these objects hold, at any depth."""
    kinds: tuple[Any, ...] = (random.Random, torch.Generator)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kinds += (numpy.random.Generator, numpy.random.RandomState)
    waiting, found = list(roots), []
    seen: set[int] = set()
    while waiting and len(seen) < MAX_OBJECTS:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, (str, bytes, int, float, type)):
            continue
        seen.add(id(one))
        if isinstance(one, kinds):
            found.append(one)
        elif isinstance(one, (list, tuple)):
            waiting += one[:MAX_PARTS]
        elif isinstance(one, dict):
            waiting += list(one.values())[:MAX_PARTS]
        elif isinstance(getattr(one, "__dict__", None), dict) and not isinstance(one, torch.Tensor):
            waiting += vars(one).values()
    return found
