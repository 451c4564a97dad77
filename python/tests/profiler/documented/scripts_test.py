"""TorchScript under the profiler."""

from __future__ import annotations

import pathlib
from types import ModuleType
from typing import Any, Set

import pytest
from documented.asking import exported, named, only, recorded, since, slices, torch

pytestmark = pytest.mark.filterwarnings("ignore")


class Inner(torch.nn.Module):  # type: ignore[misc]
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.neg(x)


class Outer(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.abs(self.inner(x))


def marked(x: torch.Tensor) -> torch.Tensor:
    with torch.autograd.profiler.record_function("in a script"):
        return torch.neg(x)


def module() -> Any:
    script = torch.jit.script(Outer())
    script(torch.ones(2))
    return script


def hierarchy(profiler: ModuleType, folder: pathlib.Path, name: str, **options: Any) -> Any:
    script = module()
    x = torch.ones(2)
    event = slices(exported(recorded(profiler, lambda: script(x), **options), folder), name)[0]
    return event["args"].get("Module Hierarchy")


def names(profiler: ModuleType, **options: Any) -> Set[str]:
    script = module()
    x = torch.ones(2)
    return {event.name for event in recorded(profiler, lambda: script(x), **options).events()}


def test_ops_of_a_script(profiler: ModuleType) -> None:
    assert {"aten::neg", "aten::abs"} <= names(profiler)


def test_call_of_a_script_is_an_event(profiler: ModuleType) -> None:
    assert "forward" in names(profiler)


def test_scope_of_the_call_of_a_script(profiler: ModuleType) -> None:
    script = module()
    x = torch.ones(2)
    assert only(recorded(profiler, lambda: script(x)).events(), "forward").scope == 2


HIERARCHIES = {
    "forward": "TOP(Outer)::forward.",
    "aten::abs": "TOP(Outer)::forward.",
    "aten::neg": "TOP(Outer)::forward.inner(Inner)::forward.",
}


@pytest.mark.parametrize("name", HIERARCHIES)
@since(2, 2)
def test_hierarchy_of_modules(profiler: ModuleType, tmp_path: pathlib.Path, name: str) -> None:
    assert hierarchy(profiler, tmp_path, name, with_modules=True) == HIERARCHIES[name]


def test_no_hierarchy_without_with_modules(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert hierarchy(profiler, tmp_path, "aten::neg") is None


def test_option_is_metadata(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert exported(recorded(profiler, lambda: None, with_modules=True), tmp_path)["with_modules"] == 1


def test_range_in_a_script(profiler: ModuleType) -> None:
    script = torch.jit.script(marked)
    x = torch.ones(2)
    script(x)
    events = recorded(profiler, lambda: script(x)).events()
    assert only(events, "aten::neg").cpu_parent is only(events, "in a script")


def test_traced_function(profiler: ModuleType) -> None:
    x = torch.ones(2)
    script = torch.jit.trace(lambda value: torch.neg(value), x)
    script(x)
    assert len(named(recorded(profiler, lambda: script(x)).events(), "aten::neg")) == 1
