"""Execution traces of a hand-made recording and of a program, compared with its trace and with PyTorch's own."""

import collections
import gc
import gzip
import inspect
import json
import struct
import subprocess
import sys

import pytest
from made_recording import BACKWARD, PYTHON, USER, MadeThread, tensor, write

import stepscope
from stepscope import _core
from stepscope.profiler import ExecutionTraceObserver, ProfilerError, profile


def nodes_of(path):
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return json.loads(text)["nodes"]


def attributes(node):
    return {attribute["name"]: attribute["value"] for attribute in node["attrs"]}


def integer(value):
    return struct.pack("<Bq", 3, value)


def test_nodes_of_a_recording(tmp_path):
    """forward contains mm; the backward op on thread 2 begins while forward is open."""
    main = MadeThread(11, 1)
    main.op("aten::mm", 10, 20, inputs=tensor(2, 3) + tensor(3, 4) + integer(5) + b"\x06", sequence=7)
    main.op("a.py(2): f", 5, 30, scope=PYTHON).op("forward", 0, 50, scope=USER)
    engine = MadeThread(12, 2)
    engine.op("MmBackward0", 40, 48, scope=BACKWARD, sequence=7, forward=1)
    write(tmp_path / "made.stepscope", [main, engine])
    _core.export_execution_trace(bytes(tmp_path / "made.stepscope"), bytes(tmp_path / "et.json"), '[{"pg_name": "0"}]')
    whole = json.loads((tmp_path / "et.json").read_text())
    assert (whole["schema"], whole["pid"]) == ("1.1.1-chakra.0.0.4", 7) and whole["finish_ts"] - whole["start_ts"] == 1000
    thread = "[pytorch|profiler|execution_trace|thread]"
    assert [(node["id"], node["name"], node["ctrl_deps"]) for node in whole["nodes"]] == [
        (1, "[pytorch|profiler|execution_trace|process]", 1),
        (2, "## process_group:init ##", 1),
        (3, thread, 1),
        (4, "forward", 3),
        (5, "aten::mm", 4),
        (6, thread, 1),
        (7, "MmBackward0", 6),
    ]
    _, groups, _, forward, product, _, backward = whole["nodes"]
    assert groups["inputs"]["values"] == ['[{"pg_name": "0"}]']
    assert product["inputs"] == {
        "values": [[0, 0, 0, 6, 4, ""], [0, 0, 0, 12, 4, ""], 5, "<None>"],
        "shapes": [[2, 3], [3, 4], [], []],
        "types": ["Tensor(float)", "Tensor(float)", "Int", "None"],
        "strides": [[], [], [], []],
    }
    assert product["outputs"] == {"values": [], "shapes": [], "types": [], "strides": []}
    told = [{key: attributes(node)[key] for key in ("rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid")} for node in (product, forward, backward)]
    assert [tuple(one.values()) for one in told] == [(1, 0, 7, 0, 1, 0), (2, 0, -1, 7, 1, 0), (3, 4, 7, 1, 2, 1)]


def test_wrong_use(tmp_path):
    observer = ExecutionTraceObserver()
    observer.start()  # does nothing without a file, as in PyTorch
    assert not observer.is_running() and not observer.is_registered and observer.get_output_file_path() is None
    observer.unregister_callback()
    with pytest.raises(ProfilerError, match="its folder does not exist; create the folder first"):
        observer.register_callback(str(tmp_path / "none" / "et.json"))
    assert observer.register_callback(str(tmp_path / "et.json")) is observer and observer.is_registered
    assert observer.register_callback("elsewhere.json").get_output_file_path() == str(tmp_path / "et.json")
    observer.cleanup()
    assert not observer.is_registered and not (tmp_path / "et.json").exists()  # nothing was recorded
    observer.register_callback(str(tmp_path / "et.json"))
    with profile(activities=[]), pytest.raises(ProfilerError, match="pass it this observer with profile"):
        observer.start()
    with pytest.warns(UserWarning, match="not collected"):
        observer.set_extra_resource_collection(True)


def test_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert ExecutionTraceObserver.build_execution_trace_obs_from_env() is None
    monkeypatch.setenv("ENABLE_PYTORCH_EXECUTION_TRACE", "1")
    observer = ExecutionTraceObserver.build_execution_trace_obs_from_env()
    assert observer.is_registered and observer.get_output_file_path().startswith(str(tmp_path))


PROGRAM = """
import sys, torch
{imports}
torch.set_num_threads(1)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.ones(4, 3)
def step():
    out = torch.cat([model(data), model(data)], 0).sum(1, keepdim=True)
    torch.full((2,), float("inf"))
    data.to(torch.float16).reshape(2, 6)
    data[None, :, 0:2]
    out.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
step()
step()
observer = ExecutionTraceObserver()
observer.register_callback(sys.argv[1])
"""
OURS = PROGRAM.format(imports="from stepscope.profiler import ExecutionTraceObserver, profile")
THEIRS = PROGRAM.format(imports="from torch.profiler import ExecutionTraceObserver")
ALONE = "observer.start(); step(); observer.stop(); observer.unregister_callback()"


def run(program, *words):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program, *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="needs PyTorch")


def test_it_links_with_the_trace(torch, tmp_path):
    block = "with profile(execution_trace_observer=observer) as prof:\n    step()\nprof.export_chrome_trace(sys.argv[2])"
    run(OURS + block, tmp_path / "et.json.gz", tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    ops = {event["args"]["Record function id"]: event for event in events if event.get("cat") in ("cpu_op", "user_annotation")}
    nodes = [node for node in nodes_of(tmp_path / "et.json.gz") if attributes(node)["rf_id"] != 0]
    assert len(nodes) == len(ops) > 50
    by_id = {node["id"]: node for node in nodes}
    for node in nodes:
        op = ops[attributes(node)["rf_id"]]
        assert node["name"] == op["name"]
        told = zip(node["inputs"]["types"], node["inputs"]["shapes"], op["args"].get("Input Dims", []), strict=True)
        assert all(shape == dims for kind, shape, dims in told if "Tensor" in kind)
        above = by_id.get(node["ctrl_deps"])
        if above is not None:
            outer = ops[attributes(above)["rf_id"]]
            assert outer["ts"] <= op["ts"] and op["ts"] + op["dur"] <= outer["ts"] + outer["dur"] + 0.001
    assert any(node["name"] == "Optimizer.step#SGD.step" for node in nodes)


def told(path):
    """Each node with its parent, its inputs' types and shapes, and its scalars. Devices and texts are left out: they are
    in PyTorch's traces, but not in recordings."""
    nodes = nodes_of(path)
    by_id = {node["id"]: node["name"] for node in nodes}

    def inputs(node):
        told = zip(node["inputs"]["types"], node["inputs"]["shapes"], node["inputs"]["strides"], node["inputs"]["values"])
        return str([("Unknown",) if kind in ("Device", "String", "Unknown") else (kind, shape, stride, plain(kind, value))
                    for kind, shape, stride, value in told])  # fmt: skip

    def plain(kind, value):
        return [] if "Tensor" in kind else value

    return collections.Counter((node["name"], by_id[node["ctrl_deps"]], inputs(node), attributes(node)["scope"]) for node in nodes)


def test_it_is_as_pytorchs(torch, tmp_path):
    import torch.profiler

    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (2, 5):
        pytest.skip(f"PyTorch {torch.__version__} writes an older execution trace, or none")
    run(OURS + ALONE, tmp_path / "ours.json")
    run(THEIRS + ALONE, tmp_path / "theirs.json")
    ours, theirs = told(tmp_path / "ours.json"), told(tmp_path / "theirs.json")
    assert ours == theirs and sum(ours.values()) > 50


def test_under_pytorchs_profiler(torch, tmp_path):
    more = "import torch.profiler\nwith torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], execution_trace_observer=observer): torch.ones(2) + 1"
    if "execution_trace_observer" not in inspect.signature(torch.profiler.profile.__init__).parameters:
        pytest.skip(f"PyTorch {torch.__version__} takes no observer")
    run(OURS + more, tmp_path / "et.json")
    assert "aten::add" in [node["name"] for node in nodes_of(tmp_path / "et.json")]


def test_alone_it_records_between_start_and_stop(torch, tmp_path):
    more = "observer.start(); torch.ones(2) + 1; observer.stop(); torch.ones(2) - 1; observer.start(); torch.ones(2) * 2; observer.cleanup()"
    run(OURS + more, tmp_path / "et.json")
    names = [node["name"] for node in nodes_of(tmp_path / "et.json")]
    assert (names.count("aten::add"), names.count("aten::sub"), names.count("aten::mul")) == (1, 0, 1)


PRODUCT = """
import sys, torch
{imports}
torch.set_num_threads(1)
a, b = torch.ones(6, 20), torch.ones(20, 9)
torch.mm(a, b)
observer = ExecutionTraceObserver()
observer.register_callback(sys.argv[1])
with profile({activities}execution_trace_observer=observer) as prof:
    torch.mm(a, b)
    torch.cat([a, a])
{after}prof.export_chrome_trace(sys.argv[2])
"""
INPUTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


def without_inputs(path):
    """The trace as if it had been recorded without shapes."""
    document = json.loads(path.read_text())
    for event in document["traceEvents"]:
        for key in INPUTS:
            event.get("args", {}).pop(key, None)
    path.write_text(json.dumps(document))


def flops_of(opened):
    table = opened.analyze("operators")[0]
    return {row["name"]: row["flops"] for row in table.to_dicts()}


def check_pair(trace, nodes):
    """FLOPs come only from the execution trace: 2 × 6 × 20 × 9 for the product, none for cat."""
    assert flops_of(stepscope.open(trace))["aten::mm"] is None
    pair = stepscope.open([trace, nodes])
    assert flops_of(pair)["aten::mm"] == 2 * 6 * 20 * 9
    assert len(pair.ranks) == 1 and any("is the execution trace of this recording" in note for note in pair.notes)


def test_flops_of_a_trace_without_shapes(torch, tmp_path):
    run(PRODUCT.format(imports="from stepscope.profiler import ExecutionTraceObserver, profile", activities="", after=""), tmp_path / "et.json.gz", tmp_path / "trace.json")
    without_inputs(tmp_path / "trace.json")
    check_pair(tmp_path / "trace.json", tmp_path / "et.json.gz")


def test_flops_by_pytorchs_execution_trace(torch, tmp_path):
    import torch.profiler

    if "execution_trace_observer" not in inspect.signature(torch.profiler.profile.__init__).parameters:
        pytest.skip(f"PyTorch {torch.__version__} takes no observer")
    imports = "from torch.profiler import ExecutionTraceObserver, profile, ProfilerActivity"
    run(PRODUCT.format(imports=imports, activities="activities=[ProfilerActivity.CPU], ", after="observer.unregister_callback()\n"), tmp_path / "et.json", tmp_path / "trace.json")
    check_pair(tmp_path / "trace.json", tmp_path / "et.json")


def test_a_file_that_is_lost_with_its_observer_is_said(tmp_path, capsys):
    pytest.importorskip("torch", reason="needs PyTorch")
    folder = tmp_path / "gone"
    folder.mkdir()
    observer = ExecutionTraceObserver().register_callback(folder / "trace.json")
    observer.start()
    observer.stop()
    folder.rmdir()
    del observer
    gc.collect()
    assert f"stepscope: the execution trace {folder / 'trace.json'} was not written: " in capsys.readouterr().err
