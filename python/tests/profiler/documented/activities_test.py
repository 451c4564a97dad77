"""Which activities are recorded: names of types, and `ProfilerActivityConfig`."""

from __future__ import annotations

import dataclasses
import pathlib
from types import ModuleType
from typing import Any, Dict, List, Set

import pytest
from documented.asking import CPU, exported, since, torch

pytestmark = [pytest.mark.filterwarnings("ignore"), since(2, 15)]
ALL = {"cpu_op", "user_annotation", "python_function", "cpu_instant_event"}


def recorded(profiler: ModuleType, activities: Any) -> Any:
    with profiler.profile(activities=activities, profile_memory=True, with_stack=True) as prof:
        with profiler.record_function("mine"):
            torch.neg(torch.ones(2))
    return prof


def categories(prof: Any, folder: pathlib.Path) -> Set[str]:
    return ALL & {event.get("cat") for event in exported(prof, folder)["traceEvents"]}


NAMES: Dict[str, List[str]] = {
    "ops": ["CPU_OP"],
    "ranges": ["USER_ANNOTATION"],
    "calls": ["PYTHON_FUNCTION"],
    "instants": ["CPU_INSTANT_EVENT"],
    "two": ["CPU_OP", "USER_ANNOTATION"],
    "nothing": [],
    "only of devices": ["CUDA_RUNTIME"],
}


@pytest.mark.parametrize("kind", NAMES)
def test_file_has_only_the_types_that_are_named(profiler: ModuleType, tmp_path: pathlib.Path, kind: str) -> None:
    prof = recorded(profiler, [{CPU: NAMES[kind]}])
    assert categories(prof, tmp_path) == {name.lower() for name in NAMES[kind]} & ALL


def test_all_types_without_names(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert categories(recorded(profiler, [{CPU: None}]), tmp_path) == ALL


def test_types_do_not_change_events(profiler: ModuleType) -> None:
    names = {event.name for event in recorded(profiler, [{CPU: ["USER_ANNOTATION"]}]).events()}
    assert {"mine", "aten::neg"} <= names


def test_config_with_types(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    asked = torch.profiler.ProfilerActivityConfig(activity_types=["USER_ANNOTATION"])
    assert categories(recorded(profiler, [{CPU: asked}]), tmp_path) == {"user_annotation"}


def test_config_without_types(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert categories(recorded(profiler, [{CPU: torch.profiler.ProfilerActivityConfig()}]), tmp_path) == ALL


@pytest.mark.parametrize("activities", [{CPU}, (CPU,), {CPU: None}], ids=["set", "tuple", "dict"])
def test_any_collection_of_activities(profiler: ModuleType, activities: Any) -> None:
    assert "aten::neg" in {event.name for event in recorded(profiler, activities).events()}


def test_activities_of_the_profiler(profiler: ModuleType) -> None:
    assert profiler.profile(activities=[{CPU: ["CPU_OP"]}]).activities == {CPU}


def test_types_of_the_profiler(profiler: ModuleType) -> None:
    assert profiler.profile(activities=[{CPU: ["CPU_OP"]}]).activity_configs[CPU].activity_types == ["CPU_OP"]


def test_defaults_of_an_activity_config(profiler: ModuleType) -> None:
    made = profiler.ProfilerActivityConfig()
    assert (made.activity_types, made.profiler_configs) == (None, [])


def test_activity_configs_are_compared_by_value(profiler: ModuleType) -> None:
    assert profiler.ProfilerActivityConfig(["CPU_OP"]) == profiler.ProfilerActivityConfig(activity_types=["CPU_OP"])


def test_metrics_need_names(profiler: ModuleType) -> None:
    with pytest.raises(TypeError):
        profiler.PerformanceMetricsConfig()
    assert profiler.PerformanceMetricsConfig(["cycles"]).metric_names == ["cycles"]


def test_cuspy_config_is_frozen(profiler: ModuleType) -> None:
    made = profiler.CuspyConfig(enable_cuda_sync_events=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.enable_cuda_sync_events = False


def test_cpu_is_supported(profiler: ModuleType) -> None:
    assert profiler.ProfilerActivity.CPU in profiler.supported_activities()


def test_activities_are_those_of_pytorch(profiler: ModuleType) -> None:
    assert profiler.ProfilerActivity.CPU == CPU


def test_default_activities_are_the_supported_ones(profiler: ModuleType) -> None:
    assert profiler.profile().activities == profiler.supported_activities()
