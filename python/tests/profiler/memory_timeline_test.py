"""Uses of memory in a hand-made recording, and in a training whose parameters are known."""

import gzip
import json
import subprocess
import sys

import pytest
import stepscope
from made_recording import MEMORY_FLAG, USER, MadeThread, write

from stepscope.profiler import ProfilerError, _memory_timeline, profile
from stepscope.profiler._memory_timeline import MemoryTimeline

NODE = "autograd::engine::evaluate_function: "
START = 1_700_000_000_000_001_000
PREEXISTING, CREATE, DESTROY = 1, 2, 4
PARAMETER, STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, DETAIL, UNKNOWN = range(8)


def us(*values):
    return [value * 1000 for value in values]


@pytest.fixture
def recording(tmp_path, monkeypatch):
    """One training step; times are in µs."""
    monkeypatch.setattr(_memory_timeline, "tensors_of_models", lambda torch: ())
    thread = MadeThread(11, 1)
    thread.op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", *us(0, 10), scope=USER)
    thread.op("aten::addmm", *us(22, 28)).op("aten::linear", *us(20, 30))
    thread.op("AddmmBackward0", *us(51, 59), scope=1).op(NODE + "AddmmBackward0", *us(50, 60)).op(NODE + "TBackward0", *us(62, 72))
    thread.op("aten::mul_", *us(82, 86)).op("Optimizer.step#SGD.step", *us(80, 90), scope=USER)
    for at, size, address in (
        (5, 100, 1), (23, 40, 2), (25, 60, 3), (27, -40, 2), (52, 30, 4), (55, 20, 5), (58, -30, 4), (64, 80, 6), (65, -20, 5),
        (70, -60, 3), (83, 10, 7), (84, 8, 8), (88, -10, 7), (93, 5, 9), (95, -100, 1), (96, -7, 10),
    ):  # fmt: skip
        thread.memory(*us(at), size, address)
    return write(tmp_path / "made.stepscope", [thread], MEMORY_FLAG)


def test_uses(recording):
    told = [(-1 if event.ns < 0 else (event.ns - START) / 1000, *event[1:]) for event in MemoryTimeline(recording).events]
    assert told == [
        (-1, PREEXISTING, 7, UNKNOWN),
        (5, CREATE, 100, INPUT),
        (23, CREATE, 40, TEMPORARY),
        (25, CREATE, 60, ACTIVATION),
        (27, DESTROY, -40, TEMPORARY),
        (52, CREATE, 30, TEMPORARY),
        (55, CREATE, 20, DETAIL),
        (58, DESTROY, -30, TEMPORARY),
        (64, CREATE, 80, GRADIENT),
        (65, DESTROY, -20, DETAIL),
        (70, DESTROY, -60, ACTIVATION),
        (83, CREATE, 10, TEMPORARY),
        (84, CREATE, 8, STATE),
        (88, DESTROY, -10, TEMPORARY),
        (93, CREATE, 5, UNKNOWN),
        (95, DESTROY, -100, INPUT),
        (96, DESTROY, -7, UNKNOWN),
    ]


def test_what_outlives_two_steps_is_no_activation(tmp_path, recording):
    thread = MadeThread(11, 1)
    thread.op("aten::empty", *us(0, 2)).memory(*us(1), 64, 1)
    thread.op("aten::relu", *us(3, 5)).memory(*us(4), 32, 2)
    thread.op("Optimizer.step#SGD.step", *us(10, 20), scope=USER).memory(*us(25), -32, 2)
    thread.op("Optimizer.step#SGD.step", *us(30, 40), scope=USER)
    events = MemoryTimeline(write(tmp_path / "kept.stepscope", [thread], MEMORY_FLAG)).events
    assert [event.use for event in events] == [UNKNOWN, ACTIVATION, ACTIVATION]


def test_what_models_hold(recording, monkeypatch):
    held = {6: _memory_timeline.Held(80, PARAMETER), 99: _memory_timeline.Held(500, GRADIENT), 3: _memory_timeline.Held(9, STATE)}
    monkeypatch.setattr(_memory_timeline, "held_memory", lambda device: held)
    events = MemoryTimeline(recording).events
    assert [tuple(event)[1:] for event in events if event.ns < 0] == [
        (PREEXISTING, 7, UNKNOWN),
        (PREEXISTING, 500, GRADIENT),
        (PREEXISTING, 9, STATE),
    ]
    assert [event.use for event in events if event.size == 80] == [PARAMETER]


def test_files(recording, tmp_path):
    timeline = MemoryTimeline(recording, "cpu")
    timeline.write(tmp_path / "sums.json")
    times, sizes = json.loads((tmp_path / "sums.json").read_text())
    assert times[:3] == [START // 1000 + 5, START // 1000 + 5, START // 1000 + 23] and len(times) == len(sizes) == 17
    assert sizes[0] == [0, 0, 0, 0, 0, 0, 0, 0, 7] and sizes[3] == [0, 0, 0, 100, 40, 60, 0, 0, 7]
    assert sizes[-1] == [0, 0, 8, 0, 0, 0, 80, 0, 5]
    timeline.write(tmp_path / "sums.json.gz")
    assert json.loads(gzip.decompress((tmp_path / "sums.json.gz").read_bytes())) == [times, sizes]
    timeline.write(str(tmp_path / "a.raw.json.gz"))
    raw = json.loads(gzip.decompress((tmp_path / "a.raw.json.gz").read_bytes()))
    assert raw[:2] == [[-1, 1, 7, 7], [START + 5000, 2, 100, 2]] and len(raw) == 17
    timeline.write(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Memory of cpu: 267 B at the peak" in page and page.count("<polygon") == 7 and "src=" not in page
    assert "<td>100 B</td><td>100 B</td>" in page  # input: at the peak, and its maximum


def test_devices(tmp_path, recording):
    thread = MadeThread(11, 1).memory(*us(1), 64, 1).memory(*us(2), 32, 1, device_type=1)
    path = write(tmp_path / "two.stepscope", [thread], MEMORY_FLAG)
    assert [MemoryTimeline(path, device).events[0].size for device in (None, "cuda", "cuda:0", "cpu")] == [32, 32, 32, 64]
    with pytest.raises(ProfilerError, match="no memory of xpu was recorded; memory was recorded of cpu, cuda:0"):
        MemoryTimeline(path, "xpu")
    with pytest.raises(ProfilerError, match="no memory was recorded; record with profile_memory=True"):
        MemoryTimeline(write(tmp_path / "none.stepscope", [MadeThread(11, 1).op("aten::mm", 0, 9)]))


def test_it_needs_memory(tmp_path):
    with profile(activities=[]) as prof:
        pass
    with pytest.raises(ProfilerError, match="needs memory events; record with profile_memory=True"):
        prof.export_memory_timeline(tmp_path / "never.html")


PROGRAM = """
import sys, torch, torch.profiler
from stepscope.profiler import profile
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
def step():
    optimizer.zero_grad()
    model(torch.ones(16, 64)).sum().backward()
    optimizer.step()
make = {"ours": profile, "theirs": torch.profiler.profile}[sys.argv[1]]
activities = [torch.profiler.ProfilerActivity.CPU]
with make(activities=activities, record_shapes=True, profile_memory=True, with_stack=True) as prof:
    step()
    step()
prof.export_memory_timeline(sys.argv[2], "cpu")
"""
PARAMETERS = 4 * (64 * 32 + 32 + 32 * 8 + 8)


def sums_of(tmp_path, whose):
    path = tmp_path / f"{whose}.json"
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, whose, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text())


def test_a_training(tmp_path):
    """Parameters, gradients and momenta have the same size; activations are ReLU's input and output."""
    pytest.importorskip("torch", reason="needs PyTorch")
    times, sizes = sums_of(tmp_path, "ours")
    assert times == sorted(times) and all(row[0] == 0 for row in sizes)
    assert {row[1 + PARAMETER] for row in sizes} == {PARAMETERS}
    assert sizes[-1][1 + GRADIENT] == sizes[-1][1 + STATE] == PARAMETERS
    assert max(row[1 + GRADIENT] for row in sizes) >= PARAMETERS
    assert max(row[1 + ACTIVATION] for row in sizes) >= 2 * 16 * 32 * 4 and sizes[-1][1 + ACTIVATION] == 0


def test_a_training_beside_pytorchs(tmp_path):
    """At the end, both agree on the memory that remains."""
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 4):
        pytest.skip(f"PyTorch {torch.__version__} has no such timeline, or another")
    ours, theirs = (sums_of(tmp_path, whose)[1][-1] for whose in ("ours", "theirs"))
    lasting = [1 + PARAMETER, 1 + STATE, 1 + GRADIENT]
    assert [ours[use] for use in lasting] == [theirs[use] for use in lasting] == [PARAMETERS] * 3


TRANSFORMER = """
import sys, torch
from torch.profiler import profile
from torch.profiler._memory_profiler import MemoryProfileTimeline
torch.manual_seed(0)
torch.set_num_threads(1)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = torch.nn.Embedding(500, 48)
        self.layer = torch.nn.TransformerEncoderLayer(48, 4, 100, batch_first=True)
        self.head = torch.nn.Linear(48, 500)
    def forward(self, tokens):
        return self.head(self.layer(self.tokens(tokens)))
with profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True) as prof:
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        tokens = torch.randint(0, 500, (5, 40))
        torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
        optimizer.step()
prof.export_chrome_trace(sys.argv[1])
timeline = MemoryProfileTimeline(prof._memory_profile())
timeline.export_memory_timeline_raw(sys.argv[2], "cpu")
timeline.export_memory_timeline(sys.argv[3], "cpu")
print(4 * sum(parameter.numel() for parameter in model.parameters()))
"""


def test_categories_of_a_trace_and_of_pytorchs_file(tmp_path):
    """What our rules make of the trace's records is what PyTorch's make of its tensors, at the peak in the backward pass."""
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 4):
        pytest.skip(f"PyTorch {torch.__version__} has no such timeline, or another")
    trace, raw, sums = (str(tmp_path / name) for name in ("trace.json", "memory.raw.json", "memory.json"))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TRANSFORMER, trace, raw, sums], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    ours, theirs, from_sums = (at_peak(path) for path in (trace, raw, sums))
    assert theirs == from_sums
    assert ours == theirs
    assert ours["parameters"] == int(done.stdout) and ours["optimizer state"] >= 2 * ours["parameters"]


def at_peak(path):
    table = stepscope.open(path).analyze("memory_categories").tables[0]
    return {name: size for name, size in zip(table["category"].to_list(), table["bytes"].to_list()) if size > 0}


def test_tensors_without_storage_are_counted(recwarn):
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    model = torch.nn.Linear(3, 3)
    model.sparse = torch.nn.Parameter(torch.eye(3).to_sparse())
    recwarn.clear()
    held = _memory_timeline.held_memory("cpu")
    assert held[model.weight.data_ptr()] == (36, PARAMETER)
    messages = [str(warning.message) for warning in recwarn]
    assert messages == ["tensors of models and optimizers on cpu without their own storage: 1; their memory counts as unknown"]
