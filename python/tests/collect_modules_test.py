"""Calls of nn.Modules in recordings."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from collecting import CALLS, MODULES, Event, calls, exported, of_file, recorded, short, trees

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
nn = torch.nn


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.second(torch.relu(self.first(x)))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.act = nn.ReLU()

    def forward(self, x):  # type: ignore[no-untyped-def]
        for block in self.blocks:
            x = self.act(block(x))
        return x


def is_module(event: Event) -> bool:
    return "Python module id" in event["args"]


BLOCK = [("nn.Module: Linear_0",), ("nn.Module: Linear_1",)], [("nn.Module: Linear_2",), ("nn.Module: Linear_3",)]
STEP = (
    "nn.Module: Model_0",
    ("nn.Module: Block_0", *BLOCK[0]), ("nn.Module: ReLU_0",),
    ("nn.Module: Block_1", *BLOCK[1]), ("nn.Module: ReLU_0",),
)  # fmt: skip
PATHS = {
    "nn.Module: Model_0": None, "nn.Module: ReLU_0": "act",
    "nn.Module: Block_0": "blocks.0", "nn.Module: Linear_0": "blocks.0.first", "nn.Module: Linear_1": "blocks.0.second",
    "nn.Module: Block_1": "blocks.1", "nn.Module: Linear_2": "blocks.1.first", "nn.Module: Linear_3": "blocks.1.second",
}  # fmt: skip


@pytest.mark.parametrize("asked", [CALLS, CALLS | MODULES, MODULES])
def test_modules_of_two_steps(tmp_path: Path, asked: int) -> None:
    model, x = Model(), torch.ones(2, 4)

    def work() -> None:
        for _ in range(2):
            model(x)

    events = recorded(tmp_path, work, asked)
    assert trees(events, is_module) == [STEP, STEP]
    assert {e["name"]: e["args"].get("Module path") for e in calls(events) if is_module(e)} == PATHS
    assert all(e["args"]["Python module id"] == int(e["name"][-1]) for e in calls(events) if is_module(e))
    if asked == MODULES:
        assert all(is_module(e) for e in calls(events))
    else:
        forward = [e for e in calls(events) if e["name"].endswith("forward")]
        assert len(forward) == 2 * 9  # 9 module calls per step


@pytest.mark.parametrize("asked", [CALLS, MODULES])
def test_a_module_that_fails(tmp_path: Path, asked: int) -> None:
    model = Block()

    def work() -> None:
        with pytest.raises(RuntimeError):
            model(torch.ones(2, 5))
        model(torch.ones(2, 4))

    events = recorded(tmp_path, work, asked)
    assert trees(events, is_module) == [
        ("nn.Module: Block_0", ("nn.Module: Linear_0",)),
        ("nn.Module: Block_0", ("nn.Module: Linear_0",), ("nn.Module: Linear_1",)),
    ]


def test_a_class_has_one_count_however_many_die(tmp_path: Path) -> None:
    def work() -> None:
        kept = [nn.Linear(4, 4) for _ in range(3)]
        for module in kept:
            module(torch.ones(1, 4))
        kept[0](torch.ones(1, 4))

    names = [e["name"] for e in sorted(calls(recorded(tmp_path, work, MODULES)), key=lambda e: e["ts"])]
    assert names == [f"nn.Module: Linear_{i}" for i in (0, 1, 2, 0)]


def test_ops_are_inside_the_calls_that_ran_them(tmp_path: Path) -> None:
    from stepscope._errors import Error
    from stepscope.profiler._observer import observer
    from stepscope.profiler._recording import MEMORY, STACKS, Recording

    try:
        observer(torch)
    except Error as error:
        pytest.skip(str(error))
    model, x = Model(), torch.ones(2, 4)
    recording = Recording(STACKS | MEMORY, tmp_path / "step.stepscope")
    recording.start()
    model(x)
    recording.stop()
    assert recording.missing == []
    events = exported(recording.path)
    linear = [e for e in calls(events) if e["name"].startswith("nn.Module: Linear")]
    assert len(linear) == 4
    for module in linear:
        (op,) = [e for e in events if e["name"] == "aten::linear" and module["ts"] <= e["ts"] <= module["ts"] + module["dur"]]
        assert op["tid"] == module["tid"]
        assert op["ts"] + op["dur"] <= module["ts"] + module["dur"]
        assert any(e["name"] == "[memory]" and op["ts"] <= e["ts"] <= op["ts"] + op["dur"] for e in events)


@pytest.mark.skipif(not torch.profiler.kineto_available(), reason="this PyTorch exports no traces")
def test_the_same_calls_as_torch_profiler(tmp_path: Path) -> None:
    model, x = Model(), torch.ones(2, 4)

    def work() -> None:
        model(x)

    def counted(events: list[Event]) -> Counter[str]:
        """Number of calls of each function of this file and of each module."""
        names = [short(e["name"]) for e in calls(events) if is_module(e) or of_file(__file__)(e)]
        return Counter(name for name in names if name in ("work", "forward") or name.startswith("nn.Module"))

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True) as other:
        work()
    other.export_chrome_trace(str(tmp_path / "torch.json"))
    theirs = counted(json.loads((tmp_path / "torch.json").read_bytes())["traceEvents"])
    ours = counted(recorded(tmp_path, work))
    assert ours == theirs
    assert ours["forward"] == 3
