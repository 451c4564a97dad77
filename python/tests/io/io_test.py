"""`stepscope.io`: annotations with DFTracer's shapes, and what the recording has of them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("stepscope._collect", reason="this build records nothing")

from stepscope import _core  # noqa: E402
from stepscope.io import DFTracerAI, ai, dft_fn, finalize, initialize_log  # noqa: E402
from stepscope.io import _log  # noqa: E402


@pytest.fixture
def recorded(tmp_path):
    """Ends the log, and returns the events of each name, in order."""
    log = initialize_log(tmp_path / "run")

    def events(name=None):
        finalize()
        assert _core.export_recording(os.fsencode(log.path), os.fsencode(tmp_path / "run.json"), []) == []
        told = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
        ranges = [one for one in told if one.get("cat") == "user_annotation"]
        ranges.sort(key=lambda one: one["ts"])
        return [one for one in ranges if name is None or one["name"] == name]

    yield events
    finalize()
    _log.log = None


def args(event):
    return {key: value for key, value in event["args"].items() if key not in ("External id", "Ev Idx", "Record function id")}


io = dft_fn("data")


class Reader:
    def __init__(self):
        self.epoch, self.step = 2, None

    @io.log
    def read(self, image_idx, image_size=64):
        return image_idx


def test_arguments_are_not_mixed_up(recorded):
    reader = Reader()
    assert reader.read(7) == 7
    reader.step = 5
    reader.read(image_idx=8, image_size=32)
    first, second = recorded("Reader.read")
    assert args(first) == {"cat": "data", "epoch": 2, "image_idx": 7, "image_size": 64}
    assert args(second) == {"cat": "data", "epoch": 2, "step": 5, "image_idx": 8, "image_size": 32}


def test_a_step_is_a_step(recorded):
    @io.log
    def train(step, epoch=1):
        return step

    train(3)
    assert args(recorded()[0]) == {"cat": "data", "epoch": 1, "step": 3}


def test_an_exception_keeps_the_range(recorded):
    @io.log(name="failing")
    def fail(step):
        raise KeyError(step)

    for step in range(3):
        with pytest.raises(KeyError):
            fail(step)
    with pytest.raises(ValueError, match="planned"), dft_fn("data", name="block"):
        raise ValueError("planned")
    events = recorded()
    assert [one["name"] for one in events] == ["failing"] * 3 + ["block"]
    assert [one["args"]["step"] for one in events[:3]] == [0, 1, 2]


def test_threads_and_recursion_share_nothing(recorded):
    barrier = threading.Barrier(4)

    @io.log
    def work(step):
        barrier.wait()
        io.update(args={"told": step})
        barrier.wait()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [one.start() for one in threads]
    [one.join() for one in threads]

    @io.log(name="down")
    def down(step):
        io.update(args={"told": step})
        if step:
            down(step - 1)
        io.update(args={"end": step})

    down(3)
    events = recorded()
    assert len(events) == 8
    assert all(one["args"]["told"] == one["args"]["step"] for one in events)
    assert [one["args"]["end"] for one in events if one["name"] == "down"] == [3, 2, 1, 0]


def test_a_block_with_updates(recorded):
    with dft_fn("data", name="decode", epoch=1) as block:
        block.update(step=4, args={"bytes": 512, "path": 'a"b\n', "share": 0.5, "whole": True, "none": None, "many": [1, 2]})
    shared = dft_fn("data", name="shared")
    shared.update(epoch=9)
    for _ in range(3):
        with shared:
            pass
    shared.reset()
    with shared:
        pass
    with shared as block:
        block.update(step=1)
        block.flush()
    events = recorded()
    known = {"cat": "data", "epoch": 1, "step": 4, "bytes": 512, "path": 'a"b\n', "share": 0.5, "whole": True, "none": None, "many": "[1, 2]"}
    assert args(events[0]) == known
    assert [one["args"].get("epoch") for one in events[1:]] == [9, 9, 9, None, None, None]
    assert [one["args"].get("step") for one in events[5:]] == [1, None]


def test_coroutines_are_timed_to_their_end(recorded):
    @io.log
    async def fetch(step):
        await asyncio.sleep(0.03)
        io.update(args={"told": step})
        return step

    async def both():
        return await asyncio.gather(fetch(1), fetch(2))

    assert asyncio.run(both()) == [1, 2]
    events = recorded()
    assert len(events) == 2
    assert all(one["dur"] > 25_000 and one["args"]["told"] == one["args"]["step"] for one in events)


def test_generators_have_a_range_per_item(recorded):
    @io.log(name="items")
    def items(step):
        for number in range(2):
            time.sleep(0.01)
            got = yield number
            assert got in (None, "sent")
        return "end"

    generator = items(1)
    assert next(generator) == 0
    time.sleep(0.05)  # not the generator's time
    assert generator.send("sent") == 1
    with pytest.raises(StopIteration, match="end"):
        next(generator)
    closed = items(2)
    next(closed)
    closed.close()
    with pytest.raises(KeyError):
        thrown = items(3)
        next(thrown)
        thrown.throw(KeyError)

    @io.log(name="later")
    async def later():
        for number in range(2):
            await asyncio.sleep(0.01)
            yield number

    async def all_of():
        return [one async for one in later()]

    assert asyncio.run(all_of()) == [0, 1]
    events = recorded()
    first = [one for one in events if one["args"].get("step") == 1]
    assert len(first) == 3 and 9_000 < first[0]["dur"] < 40_000 and 9_000 < first[1]["dur"] < 40_000
    assert [one["dur"] > 9_000 for one in events if one["name"] == "later"] == [True, True, False]


def test_loops_and_constructors(recorded):
    for item in io.iter(range(2), name="load", iter_name="batch"):
        time.sleep(0.005 * (1 + item))

    class Made:
        @io.log_init
        def __init__(self, step):
            pass

        @io.log_static
        @staticmethod
        def helper(epoch):
            return epoch

    Made(6)
    assert Made.helper(4) == 4
    events = recorded()
    assert [(one["name"], one["args"].get("batch")) for one in events[:5]] == [
        ("load.iter", 1), ("load.yield", 1), ("load.iter", 2), ("load.yield", 2), ("load.iter", 3)]  # fmt: skip
    assert events[1]["dur"] > 4_500 and events[3]["dur"] > 9_500
    assert [one["name"].rpartition(".")[2] for one in events[5:]] == ["__init__", "helper"]
    assert events[5]["args"]["step"] == 6 and events[6]["args"]["epoch"] == 4


def test_the_tree(recorded):
    @ai.compute.forward
    def forward(step):
        return step

    @ai.data.item(epoch=3)
    def item():
        pass

    assert forward(1) == 1
    item()
    with ai.comm.all_reduce(step=2):
        pass
    ai.pipeline.epoch.start(epoch=1)
    ai.pipeline.update(args={"loss": 0.5})
    ai.pipeline.epoch.stop()
    list(ai.dataloader.fetch.iter(range(1)))
    with ai.data.io.read.derive(name="header"):
        pass
    with DFTracerAI(cat="mine", name="own"):
        pass
    ai.device.transfer.disable()
    with ai.device.transfer:
        pass
    ai.device.enable()
    with ai.device.transfer:
        pass
    events = [(one["name"], one["args"]["cat"]) for one in recorded()]
    assert events == [
        ("forward", "compute"), ("item", "data"), ("all_reduce", "comm"), ("epoch", "pipeline"), ("fetch.iter", "dataloader"),
        ("fetch.yield", "dataloader"), ("fetch.iter", "dataloader"), ("header", "data"), ("own", "mine"), ("transfer", "device")]  # fmt: skip
    told = {one["name"]: args(one) for one in recorded()}
    assert told["item"]["epoch"] == 3 and told["all_reduce"]["step"] == 2
    assert told["epoch"] == {"cat": "pipeline", "epoch": 1, "loss": 0.5}
    with pytest.raises(AttributeError, match="derive"):
        ai.compute.sideways  # noqa: B018


def test_disabled_decorators_return_the_function():
    def function():
        pass

    off = dft_fn("data", enable=False)
    assert off.log(function) is function and off.log_init(function) is function and off.log_static(function) is function
    assert off.log(name="other")(function) is function
    assert ai.compute.forward(enable=False)(function) is function
    with off as block:
        assert block.update(step=1) is off
    assert list(off.iter([1, 2])) == [1, 2]


@pytest.mark.parametrize("variable", ["STEPSCOPE_IO", "DFTRACER_ENABLE"])
def test_switched_off_from_outside(variable):
    program = "from stepscope.io import dft_fn\ndef f(): pass\nassert dft_fn('a').log(f) is f\n"
    subprocess.run([sys.executable, "-c", program], env={**os.environ, variable: "0"}, check=True)


def test_without_a_recording_nothing_is_written():
    with dft_fn("data") as block:
        block.update(step=1)
    assert Reader().read(1) == 1
    assert not _log.is_on()


def test_names_of_files(tmp_path):
    log = initialize_log(tmp_path / "deep" / "run", "/data", 3)
    try:
        assert log.path == tmp_path / "deep" / "run-3.stepscope"
        assert initialize_log(tmp_path / "other") is log
        log.finalize()
        log.finalize()
        assert log.path.exists() and not _log.is_on()
    finally:
        _log.log = None


def test_long_values_are_cut(recorded):
    with dft_fn("data", name="long") as block:
        block.update(args={"text": "x" * 5000, **{f"key{number}": "y" * 900 for number in range(20)}})
    with dft_fn("data", name="after"):
        pass
    events = recorded()
    assert [one["name"] for one in events] == ["long", "after"]
    assert "cat" not in events[0]["args"] and events[1]["args"]["cat"] == "data"  # more than a recording takes: none is kept
