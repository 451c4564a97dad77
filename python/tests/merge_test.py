"""stepscope's own recordings are merged and overlaid like the traces that they export."""

import json

import program
import pytest
import stepscope
from made_recording import PYTHON, USER, MadeThread, write


@pytest.fixture
def recording(tmp_path):
    main = MadeThread(7, 1)
    main.op("aten::mm", 1000, 2000).op("train.py(3): main", 0, 9000, scope=PYTHON).op("ProfilerStep#1", 500, 3000, scope=USER)
    main.op("aten::add", 5000, 6000).op("ProfilerStep#2", 4500, 8000, scope=USER)
    folder = tmp_path / "run"
    folder.mkdir()
    return write(folder / "one.stepscope", [main])


def done(*words):
    code, _, problem = program.said(*words)
    assert code == 0, problem


def ranges(path):
    """Name and length in µs of each range, except that of the whole recording."""
    events = json.loads(path.read_bytes())["traceEvents"]
    return sorted((e["name"], round(e["dur"], 3)) for e in events if e["ph"] == "X" and e["cat"] != "Trace")


RANGES = [("ProfilerStep#1", 2.5), ("ProfilerStep#2", 3.5), ("aten::add", 1), ("aten::mm", 1), ("train.py(3): main", 9)]


def times(path):
    """Host time in ns by op."""
    return {row["name"]: row["host_total"] for row in stepscope.open(path).analyze("operators")[0]}


@pytest.mark.parametrize("named", ["by itself", "by its folder"])
def test_a_recording_becomes_a_trace(recording, tmp_path, named):
    merged = tmp_path / "merged.json"
    done("merge", recording if named == "by itself" else recording.parent, "-o", merged)
    assert ranges(merged) == RANGES
    assert times(merged) == times(recording) and times(merged)["aten::mm"] == 1000


def test_for_perfetto(recording, tmp_path):
    done("merge", recording, "-o", tmp_path / "merged.pftrace")
    assert b"train.py(3): main" in (tmp_path / "merged.pftrace").read_bytes()


def test_an_overlay(recording, tmp_path):
    overlaid = tmp_path / "overlaid.json"
    done("overlay", recording, "-o", overlaid)
    assert ranges(overlaid) == RANGES
    assert times(overlaid) == times(recording)


def test_what_is_no_recording(tmp_path):
    path = tmp_path / "cut.stepscope"
    path.write_bytes(b"STEPREC\n")
    code, _, problem = program.said("merge", path, "-o", tmp_path / "merged.json")
    assert code != 0 and "cut.stepscope" in problem and "is not a stepscope recording" in problem
