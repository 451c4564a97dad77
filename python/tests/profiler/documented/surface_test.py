"""Names, parameters and classes of the module."""

from __future__ import annotations

import inspect
import pickle
from types import ModuleType
from typing import Any

import pytest
from documented.asking import CPU, config, named, recorded, since, torch

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", [*torch.profiler.__all__, "_KinetoProfile", "itt", "RecordScope", "KinetoStepTracker"])
def test_name_of_the_module(profiler: ModuleType, name: str) -> None:
    if not hasattr(torch.profiler, name):
        pytest.skip("this PyTorch does not have it")
    assert hasattr(profiler, name)


def test_all_names_are_exported(profiler: ModuleType) -> None:
    assert set(torch.profiler.__all__) <= set(profiler.__all__)


PLACES = ["profile", "_KinetoProfile", "schedule", "tensorboard_trace_handler", "record_function"]


@pytest.mark.parametrize("name", PLACES)
def test_parameters(profiler: ModuleType, name: str) -> None:
    wanted = inspect.signature(getattr(torch.profiler, name)).parameters
    assert set(wanted) <= set(inspect.signature(getattr(profiler, name)).parameters)


@pytest.mark.parametrize("name", PLACES)
def test_defaults_of_parameters(profiler: ModuleType, name: str) -> None:
    parameters = inspect.signature(getattr(profiler, name)).parameters
    wanted = inspect.signature(getattr(torch.profiler, name)).parameters
    told = {key: parameters[key].default for key in wanted if key in parameters}
    assert told == {key: wanted[key].default for key in told}


METHODS = [name for name, value in vars(torch.profiler.profile).items() if inspect.isfunction(value) and name[0] != "_"]
METHODS += [name for name, value in vars(torch.profiler._KinetoProfile).items() if inspect.isfunction(value) and name[0] != "_"]


@pytest.mark.parametrize("name", sorted(set(METHODS)))
def test_method_has_these_parameters(profiler: ModuleType, name: str) -> None:
    wanted = list(inspect.signature(getattr(torch.profiler.profile, name)).parameters)
    assert set(wanted) <= set(inspect.signature(getattr(profiler.profile, name)).parameters)


def test_profile_is_a_kineto_profile(profiler: ModuleType) -> None:
    assert issubclass(profiler.profile, profiler._KinetoProfile)


def test_profile_may_be_derived_from(profiler: ModuleType) -> None:
    class Mine(profiler.profile):  # type: ignore[misc, name-defined]
        def __init__(self, label: str) -> None:
            super().__init__(activities=[CPU])
            self.label = label

    with Mine("run") as prof:
        torch.neg(torch.ones(2))
    assert prof.label == "run" and named(prof.events(), "aten::neg")


def test_derived_class_sees_the_steps_of_a_recording(profiler: ModuleType) -> None:
    seen = []

    class Mine(profiler.profile):  # type: ignore[misc, name-defined]
        def prepare_trace(self) -> None:
            seen.append("prepare")
            super().prepare_trace()

        def start_trace(self) -> None:
            seen.append("start")
            super().start_trace()

        def stop_trace(self) -> None:
            seen.append("stop")
            super().stop_trace()

    with Mine(activities=[CPU]):
        pass
    assert seen == ["prepare", "start", "stop"]


def test_low_level_profiler(profiler: ModuleType) -> None:
    prof = profiler._KinetoProfile(activities=[CPU])
    prof.start()
    torch.neg(torch.ones(2))
    prof.stop()
    assert named(prof.events(), "aten::neg")


def test_low_level_profiler_in_three_calls(profiler: ModuleType) -> None:
    prof = profiler._KinetoProfile(activities=[CPU])
    prof.prepare_trace()
    prof.start_trace()
    torch.neg(torch.ones(2))
    prof.stop_trace()
    assert named(prof.events(), "aten::neg")


def test_ops_between_prepare_and_start_are_not_recorded(profiler: ModuleType) -> None:
    prof = profiler._KinetoProfile(activities=[CPU])
    prof.prepare_trace()
    torch.neg(torch.ones(2))
    prof.start_trace()
    prof.stop_trace()
    assert named(prof.events(), "aten::neg") == []


def test_with_gives_the_profiler(profiler: ModuleType) -> None:
    prof = profiler.profile(activities=[CPU])
    with prof as entered:
        assert entered is prof


OPTIONS = ["record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"]


@pytest.mark.parametrize("name", OPTIONS)
def test_option_is_an_attribute(profiler: ModuleType, name: str) -> None:
    options: Any = {name: True}
    made = profiler.profile(activities=[CPU], **options)
    assert {key: bool(getattr(made, key)) for key in OPTIONS} == {key: key == name for key in OPTIONS}


@since(2, 15)
def test_experimental_options_are_an_attribute(profiler: ModuleType) -> None:
    asked = config(verbose=True)
    assert profiler.profile(activities=[CPU], experimental_config=asked).experimental_config is asked


def test_schedule_and_handler_are_attributes(profiler: ModuleType) -> None:
    steps = profiler.schedule(wait=1, warmup=1, active=1)
    made = profiler.profile(activities=[CPU], schedule=steps, on_trace_ready=print)
    assert (made.schedule, made.on_trace_ready) == (steps, print)


def test_events_are_lists_of_pytorchs_class(profiler: ModuleType) -> None:
    from torch.autograd.profiler_util import EventList

    prof = recorded(profiler, lambda: torch.neg(torch.ones(2)))
    assert isinstance(prof.events(), EventList) and isinstance(prof.key_averages(), EventList)


def test_events_are_of_pytorchs_class(profiler: ModuleType) -> None:
    from torch.autograd.profiler_util import FunctionEvent, FunctionEventAvg

    prof = recorded(profiler, lambda: torch.neg(torch.ones(2)))
    assert isinstance(prof.events()[0], FunctionEvent) and isinstance(prof.key_averages()[0], FunctionEventAvg)


def test_profiler_is_of_pytorchs_class(profiler: ModuleType) -> None:
    assert isinstance(profiler.profile(activities=[CPU]), torch.profiler.profile)


def test_events_can_be_pickled(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: torch.neg(torch.ones(2))).events()
    assert [event.name for event in pickle.loads(pickle.dumps(list(events)))] == [event.name for event in events]


def test_pytorch_knows_that_a_profiler_is_on(profiler: ModuleType) -> None:
    with profiler.profile(activities=[CPU]):
        assert torch.autograd._profiler_enabled()
    assert not torch.autograd._profiler_enabled()


@since(2, 3)
def test_autograd_knows_that_a_profiler_is_on(profiler: ModuleType) -> None:
    with profiler.profile(activities=[CPU]):
        assert torch.autograd.profiler._is_profiler_enabled
    assert not torch.autograd.profiler._is_profiler_enabled
