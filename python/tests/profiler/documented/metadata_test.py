"""Metadata that a program adds to its trace."""

from __future__ import annotations

import pathlib
from types import ModuleType

import pytest
from documented.asking import CPU, exported, recorded, torch

pytestmark = pytest.mark.filterwarnings("ignore")
with_preset = pytest.mark.skipif(
    not hasattr(torch.profiler.profile, "preset_metadata_json"), reason="this PyTorch has no preset metadata"
)


def work() -> None:
    torch.neg(torch.ones(2))


def test_text(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        prof.add_metadata("run", "number 5")
    assert exported(prof, tmp_path)["run"] == "number 5"


def test_json(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        prof.add_metadata_json("run", '{"lr": 0.5, "layers": [1, 2]}')
    assert exported(prof, tmp_path)["run"] == {"lr": 0.5, "layers": [1, 2]}


def test_the_last_value_of_a_key_counts(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        prof.add_metadata("run", "first")
        prof.add_metadata("run", "second")
    assert exported(prof, tmp_path)["run"] == "second"


@with_preset
def test_preset(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = profiler.profile(activities=[CPU])
    prof.preset_metadata_json("run", "[1, 2]")
    with prof:
        work()
    assert exported(prof, tmp_path)["run"] == [1, 2]


@with_preset
def test_preset_is_an_attribute(profiler: ModuleType) -> None:
    prof = profiler.profile(activities=[CPU])
    prof.preset_metadata_json("run", "[1, 2]")
    assert prof.preset_metadata == {"run": "[1, 2]"}


@with_preset
def test_preset_counts_for_every_cycle(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    told = []
    steps = profiler.schedule(wait=0, warmup=1, active=1, repeat=2)
    prof = profiler.profile(
        activities=[CPU], schedule=steps, on_trace_ready=lambda done: told.append(exported(done, tmp_path).get("run"))
    )
    prof.preset_metadata_json("run", "7")
    with prof:
        for _ in range(4):
            prof.step()
    assert told == [7, 7]


def test_added_in_one_cycle_is_not_in_the_next(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    told = []
    steps = profiler.schedule(wait=0, warmup=1, active=1, repeat=2)
    prof = profiler.profile(
        activities=[CPU], schedule=steps, on_trace_ready=lambda done: told.append(exported(done, tmp_path).get("run"))
    )
    with prof:
        for number in range(4):
            if number == 1:
                prof.add_metadata_json("run", "7")
            prof.step()
    assert told == [7, None]


def test_a_later_profiler_does_not_have_it(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    with profiler.profile(activities=[CPU]) as prof:
        prof.add_metadata("run", "first")
    assert "run" not in exported(recorded(profiler, work), tmp_path)
