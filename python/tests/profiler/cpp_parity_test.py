"""The sixth program of the parity tests: C++ with libtorch, which records itself through stepscope/collect.h.

libtorch has two profilers for C++. Kineto's has shapes and FLOPs, but before PyTorch 2.4 its times are in µs, too coarse for ops
to nest. The older, legacy profiler lists begins and ends in order, which nest in every version. Memory is not compared: in C++
programs, stepscope records only memory that the program reports.
"""

import collections
import json
import shutil
import struct
import subprocess
import warnings

import pytest

import made_recording
from collecting import exported
from program import ROOT

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

from parity_programs import HIDDEN, op_rows  # noqa: E402
from stepscope.profiler import _observer  # noqa: E402
from stepscope.profiler._event_list import all_events  # noqa: E402
from stepscope.profiler._rows import Rows  # noqa: E402


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Our events, and the lines that the program prints about libtorch's events."""
    folder = tmp_path_factory.mktemp("cpp")
    program, recording = folder / "torch_parity", folder / "run.stepscope"
    build(program)
    done = subprocess.run([program, recording], capture_output=True, text=True, timeout=120, check=True)
    with open(recording, "r+b") as file:  # sets the FLOPs flag, which C++ programs cannot set
        file.seek(36)
        file.write(struct.pack("<I", made_recording.SHAPES | made_recording.FLOPS))
    return Recorded(recording), [line.split("\t") for line in done.stdout.splitlines()]


class Recorded:
    def __init__(self, path):
        self.path = path
        self._events = all_events(Rows([path], False, True))

    def events(self):
        return self._events


def build(program):
    """Compiles with the observer's flags and links with it, like stepscope_record_torch() in CMake."""
    kept = _observer.observer(torch)
    command = [word for word in [*_observer.compiler(), *_observer.arguments(torch)] if not word.endswith(".cpp") and word not in ("-shared", "-O2")]
    first = next(at for at, word in enumerate(command) if word.startswith("-"))
    compiler, options = command[:first], command[first:]
    if shutil.which("ccache") and "ccache" not in compiler[0]:
        compiler.insert(0, "ccache")
    headers = next(word for word in options if word.startswith("-isystem"))
    libraries = [word[2:] for word in options if word.startswith("-L")]
    words = [word for word in options if not word.startswith(("-l", "-L"))]
    words += ["-O0", f"-I{ROOT / 'include'}", f"{headers}/torch/csrc/api/include"]
    run([*compiler, *words, "-c", str(ROOT / "test/collect/torch_parity.cpp"), "-o", f"{program}.o"])
    places = [word for library in libraries for word in (f"-L{library}", f"-Wl,-rpath,{library}")]
    run([*compiler, f"{program}.o", str(kept), *places, "-ltorch", "-ltorch_cpu", "-lc10", "-lstepscope_collect", "-o", str(program)])


def run(words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[:2000]


ONE_OF_TWO = ("aten::add_", "aten::add_")
"""BatchNorm's counter: events() merges an op and its only child of the same name."""


def test_names_counts_shapes_and_flops(recorded):
    ours, lines = recorded
    beyond = {"aten::convolution_backward"}
    mine = collections.Counter(
        (event.name, "".join(map(str, event.input_shapes)), 0 if event.name in beyond else event.flops or 0) for event in ours.events()
    )
    mine[ONE_OF_TWO[0], "[][][]", 0] += 1
    theirs = collections.Counter((line[1], line[2], int(line[3])) for line in lines if line[0] == "op" and line[1] not in HIDDEN)
    assert mine == theirs
    assert mine["aten::conv2d", "[2, 3, 8, 8][4, 3, 3, 3][4][][][][]", 2 * 2 * 8 * 8 * 3 * 3 * 3 * 4] == 1


def test_parents(recorded):
    ours, lines = recorded
    rows, above = collections.Counter(), []
    for line in lines:
        if line[0] == "push":
            if line[1] not in HIDDEN:
                rows[line[1], above[-1] if above else None] += 1
            above.append(line[1])
        elif line[0] == "pop":
            above.pop()
    mine = collections.Counter([ONE_OF_TWO])
    for (name, parent, _, _), count in op_rows(ours).items():
        mine[name, parent] += count
    assert mine == rows and not above


def test_what_a_collective_says(recorded):
    """Kineto's file has the same values, and a hash of them; before PyTorch 2 there are fewer."""
    (ours,) = [event["args"] for event in exported(recorded[0].path) if event["name"] == "record_param_comms"]
    mine = {key: value for key, value in ours.items() if key in KNOWN}
    told = recorded[0].path.with_name(recorded[0].path.name + ".json")
    if told.exists():
        events = json.loads(told.read_bytes())["traceEvents"]
        (theirs,) = [event["args"] for event in events if event["name"] == "record_param_comms"]
        assert mine == {key: value for key, value in theirs.items() if key in KNOWN}
        assert mine["Process Group Ranks"] == "[0, 1]" and mine["Seq"] == 41
    assert (mine["Collective name"], mine["In msg nelems"], mine["dtype"], mine["Rank"]) == ("allreduce", 4 * 8 * 8 * 10, "Float", 1)


KNOWN = {
    "Collective name", "In msg nelems", "Out msg nelems", "dtype", "In split size", "Out split size", "Rank", "Group size",
    "Process Group Name", "Process Group Description", "Process Group Ranks", "Global rank start", "Global rank stride",
    "Src Rank", "Dst Rank", "Seq", "Is asynchronized op",
}  # fmt: skip
