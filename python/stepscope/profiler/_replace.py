"""``replace_torch_profiler()``: programs and frameworks that use torch.profiler by themselves get stepscope's."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

NAMES = ("profile", "_KinetoProfile")
"""The classes of torch.profiler that are replaced."""
ASKED = "STEPSCOPE_REPLACE_TORCH_PROFILER"
"""The environment variable that asks for it; set to 1."""

originals: dict[str, Any] = {}
"""torch.profiler's own classes while they are replaced, by name."""
active = 0
"""How many Replaced objects are on."""
changed: list[tuple[dict[str, Any], str, str]] = []
"""The modules' variables that were changed: a module's names, the variable, the class."""


class Replaced:
    """torch.profiler is replaced until undo(), or until the ``with`` block ends."""

    def __init__(self) -> None:
        global active
        self._is_on = True
        active += 1
        if active == 1:
            replace()

    def undo(self) -> None:
        """Gives torch.profiler its own classes back. A second call does nothing."""
        global active
        if self._is_on:
            self._is_on = False
            active -= 1
            if active == 0:
                restore()

    def __enter__(self) -> Replaced:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.undo()


def replace_torch_profiler() -> Replaced:
    """Makes ``torch.profiler.profile`` stepscope's, in all modules that have imported it so far or will.

    Classes that were derived from torch.profiler's before, and objects made before, stay torch.profiler's. Use it as a context
    manager, or keep the result and call undo(). Needs PyTorch.
    """
    return Replaced()


def original(name: str) -> Any:
    """torch.profiler's own class."""
    import torch.profiler as kineto

    return originals.get(name) or getattr(kineto, name)


def replace() -> None:
    import torch.profiler as kineto

    from stepscope import profiler

    originals.update({name: getattr(kineto, name) for name in NAMES})
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        if str(names.get("__name__", "")).startswith("stepscope."):
            continue
        for variable, value in list(names.items()):
            for name, theirs in originals.items():
                if value is theirs:
                    names[variable] = getattr(profiler, name)
                    changed.append((names, variable, name))


def restore() -> None:
    from stepscope import profiler

    for names, variable, name in changed:
        if names.get(variable) is getattr(profiler, name):
            names[variable] = originals[name]
    changed.clear()
    originals.clear()
