"""Every case is asked of torch.profiler, which must pass, and then of stepscope.profiler."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest
from documented.asking import VERSION
from documented.differences import OF_CASE

OURS = "stepscope.profiler"


@pytest.fixture(params=["torch.profiler", OURS])
def profiler(request: pytest.FixtureRequest) -> ModuleType:
    """Marks cases in which stepscope differs on purpose: they must fail, as they do with PyTorch 2.15."""
    case = f"{request.node.path.name}::{request.node.name}".replace(f"[{OURS}-", "[").replace(f"[{OURS}]", "")
    if request.param == OURS and case in OF_CASE:
        request.applymarker(pytest.mark.xfail(reason=f"{OF_CASE[case]}: see docs/profiler.md", strict=VERSION >= (2, 15)))
    return importlib.import_module(request.param)
