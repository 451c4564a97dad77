"""A training loop on the CPU, recorded, exported, and read by other tools."""

import collections
import gzip
import json
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

import peers  # noqa: E402
import stepscope  # noqa: E402
from parity_programs import mlp  # noqa: E402
from stepscope.profiler import profile, schedule, tensorboard_trace_handler  # noqa: E402

STEPS = ["2", "3", "4"]


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loop")
    step, _ = mlp()
    with profile(
        schedule=schedule(wait=1, warmup=1, active=3, repeat=1),
        on_trace_ready=tensorboard_trace_handler(folder, use_gzip=True),
        record_shapes=True, profile_memory=True, with_stack=True,
    ) as prof:  # fmt: skip
        for _ in range(6):
            step()
            prof.step()
    (path,) = folder.glob("*.pt.trace.json.gz")
    return path


@pytest.fixture(scope="module")
def ops(trace):
    """Number of ops in the file, by name."""
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    return collections.Counter(event["name"] for event in events if event.get("cat") == "cpu_op")


def test_it_is_whole(trace, ops):
    peers.validate(trace)
    (rank,) = stepscope.open(trace).ranks
    assert len(rank.steps) == 3
    assert (ops["aten::addmm"], ops["AddmmBackward0"]) == (6, 6)


def test_the_plugin(trace, ops):
    told = peers.plugin(trace)
    assert (told["steps"], told["kernels"]) == (STEPS, {})
    assert {"overall", "operator", "memory", "module"} <= set(told["views"])
    assert told["ops"] == ops


def test_hta(trace, ops):
    told = peers.hta(trace)
    assert told["steps"] == [f"ProfilerStep#{step}" for step in STEPS]
    assert (told["kernels"], told["ops"]) == ({}, ops)
