"""Ranges that PyTorch itself marks: data loaders, data pipes, optimizers."""

from __future__ import annotations

import pathlib
from types import ModuleType
from typing import Any, Counter, Iterator, List

import pytest
from documented.asking import exported, of_category, only, recorded, since, torch

pytestmark = pytest.mark.filterwarnings("ignore")
LOADED = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def ranges(prof: Any) -> Counter[str]:
    return Counter(event.name for event in prof.events() if event.scope == 7)


class Numbers(torch.utils.data.Dataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> float:
        return float(index)


class Stream(torch.utils.data.IterableDataset):  # type: ignore[misc]
    def __iter__(self) -> Iterator[float]:
        return iter([1.0, 2.0, 3.0, 4.0])


class Pipe(torch.utils.data.IterDataPipe):  # type: ignore[misc]
    def __iter__(self) -> Iterator[int]:
        yield from range(3)


def load(data: Any) -> List[Any]:
    return list(torch.utils.data.DataLoader(data, batch_size=2))


def test_loader_marks_each_batch_and_the_end(profiler: ModuleType) -> None:
    assert ranges(recorded(profiler, lambda: load(Numbers())))[LOADED] == 3


def test_loader_of_a_stream_marks_each_batch_and_the_end(profiler: ModuleType) -> None:
    assert ranges(recorded(profiler, lambda: load(Stream())))[LOADED] == 3


def test_loader_marks_nothing_else(profiler: ModuleType) -> None:
    assert set(ranges(recorded(profiler, lambda: load(Numbers())))) == {LOADED}


def test_ops_of_a_batch_belong_to_the_loader(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: load(Stream())).events()
    tensors = [event for event in events if event.name == "aten::lift_fresh"]
    assert len(tensors) == 2
    assert {event.cpu_parent.name for event in tensors} == {LOADED}


@since(2, 4)
def test_pipe_marks_each_element_and_the_end(profiler: ModuleType) -> None:
    assert ranges(recorded(profiler, lambda: list(Pipe()))) == {"Pipe()": 4}


@since(2, 4)
def test_pipes_in_a_row_are_nested(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: list(Pipe().map(str))).events()
    parents = [event.cpu_parent.name.partition("(")[0] for event in events if event.name == "Pipe()"]
    assert parents == ["Mapper"] * 4


@since(2, 4)
def test_pipe_is_a_user_annotation(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, lambda: list(Pipe())), tmp_path)
    assert {event["name"] for event in of_category(trace, "user_annotation")} == {"Pipe()"}


def test_pipe_with_indices_is_not_marked(profiler: ModuleType) -> None:
    pipe = torch.utils.data.datapipes.map.SequenceWrapper([1, 2])
    assert ranges(recorded(profiler, lambda: [pipe[0], pipe[1]])) == {}


def test_loader_with_workers_marks_each_batch_and_the_end(profiler: ModuleType) -> None:
    def work() -> None:
        list(torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=1))

    name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    assert ranges(recorded(profiler, work))[name] == 3


def test_pipe_without_a_profiler_is_not_marked_later(profiler: ModuleType) -> None:
    values = iter(Pipe())
    next(values)
    assert ranges(recorded(profiler, lambda: list(values))) == {}


def train(optimizer_class: Any) -> None:
    model = torch.nn.Linear(2, 2)
    optimizer = optimizer_class(model.parameters(), lr=0.1)
    model(torch.ones(2, 2)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop"])
def test_optimizer_marks_its_calls(profiler: ModuleType, name: str) -> None:
    marked = ranges(recorded(profiler, lambda: train(getattr(torch.optim, name))))
    assert marked == {f"Optimizer.step#{name}.step": 1, f"Optimizer.zero_grad#{name}.zero_grad": 1}


def test_optimizer_of_a_derived_class(profiler: ModuleType) -> None:
    class Mine(torch.optim.SGD):  # type: ignore[misc]
        pass

    assert "Optimizer.step#Mine.step" in ranges(recorded(profiler, lambda: train(Mine)))


def test_ops_of_a_step_belong_to_the_optimizer(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: train(torch.optim.SGD)).events()
    step = only(events, "Optimizer.step#SGD.step")
    assert any(child.name in ("aten::add_", "aten::_foreach_add_") for child in step.cpu_children)


def test_gradients_are_accumulated_once_per_parameter(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: train(torch.optim.SGD)).events()
    assert sum(event.name == "torch::autograd::AccumulateGrad" for event in events) == 2


def test_gradient_has_the_scope_of_backward(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: train(torch.optim.SGD)).events()
    assert only(events, "AddmmBackward0").scope == 1


def test_gradient_belongs_to_its_evaluation(profiler: ModuleType) -> None:
    events = recorded(profiler, lambda: train(torch.optim.SGD)).events()
    parent = only(events, "AddmmBackward0").cpu_parent
    assert parent.name == "autograd::engine::evaluate_function: AddmmBackward0"
