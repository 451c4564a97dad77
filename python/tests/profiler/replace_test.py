"""replace_torch_profiler(): programs that use torch.profiler by themselves."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import types
import warnings
from pathlib import Path

import pytest

import stepscope.profiler as sp

torch = pytest.importorskip("torch", reason="needs PyTorch")
import torch.profiler as kineto  # noqa: E402


@pytest.fixture
def framework() -> types.ModuleType:
    """A module that imported torch.profiler's class under a name of its own."""
    module = types.ModuleType("framework_of_the_test")
    module.Tracer = kineto.profile  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    yield module
    del sys.modules[module.__name__]


def test_it_is_replaced_everywhere_and_put_back(framework: types.ModuleType) -> None:
    own = kineto.profile
    with sp.replace_torch_profiler():
        assert torch.profiler.profile is torch.profiler.profiler.profile is framework.Tracer is sp.profile
        with framework.Tracer(record_shapes=True) as prof:
            torch.ones(3).add(1)
        assert isinstance(prof, torch.profiler.profile) and any(event.name == "aten::add" for event in prof.events())
    assert torch.profiler.profile is torch.profiler.profiler.profile is framework.Tracer is own
    with framework.Tracer() as prof:
        torch.ones(3)
    assert isinstance(prof, own)


def test_it_may_be_asked_for_twice_and_undone_by_hand() -> None:
    own = kineto.profile
    outer, inner = sp.replace_torch_profiler(), sp.replace_torch_profiler()
    outer.undo()
    outer.undo()
    assert kineto.profile is sp.profile
    inner.undo()
    assert kineto.profile is own


def test_what_another_put_there_meanwhile_stays(framework: types.ModuleType) -> None:
    with sp.replace_torch_profiler():
        framework.Tracer = dict  # type: ignore[attr-defined]
    assert framework.Tracer is dict


@pytest.mark.skipif(not torch.profiler.kineto_available(), reason="this PyTorch has no Kineto")
def test_torchs_own_is_still_there_as_a_backend() -> None:
    with sp.replace_torch_profiler(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prof = sp.profile(backend="kineto")
        assert type(prof).__module__ == "torch.profiler.profiler"


def test_the_environment_asks_for_it() -> None:
    program = "import torch, stepscope.profiler as sp; assert torch.profiler.profile is sp.profile"
    environment = {**os.environ, "STEPSCOPE_REPLACE_TORCH_PROFILER": "1"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=120)


def test_handlers_and_schedules_of_torch_profiler_serve(tmp_path: Path) -> None:
    with sp.replace_torch_profiler():
        schedule = kineto.schedule(wait=0, warmup=1, active=1, repeat=1)
        with kineto.profile(schedule=schedule, on_trace_ready=kineto.tensorboard_trace_handler(str(tmp_path))) as prof:
            for _ in range(3):
                torch.ones(2).add(1)
                prof.step()
    assert len(list(tmp_path.glob("*.pt.trace.json"))) == 1


def test_the_signature_is_torch_profilers_and_more() -> None:
    theirs, ours = inspect.signature(kineto.profile).parameters, inspect.signature(sp.profile).parameters
    assert set(ours) - set(theirs) >= {"path", "megabytes", "keep", "backend"}
    assert set(theirs) <= set(ours)
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in ours.values())
