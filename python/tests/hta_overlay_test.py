"""Drawings of stepscope.hta in copies of recordings, and saved critical paths."""

import gzip
import json
import os

import pytest

from program import SAMPLES

pd = pytest.importorskip("pandas")

import stepscope  # noqa: E402
from stepscope.hta import TimeSeriesTypes, TraceAnalysis, restore_cpgraph  # noqa: E402

# Two steps of 20 us: an op of 18 that launches a kernel of 10 at its start, which begins 3 us later.
EVENTS = [event for step, at in enumerate((0, 20)) for event in (
    {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": 20, "args": {}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at + 1, "dur": 8, "args": {"External id": step}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 2, "dur": 2,
     "args": {"correlation": step + 1}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::off_the_path", "pid": 1, "tid": 2, "ts": at + 1, "dur": 1, "args": {}},
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 5, "dur": 10,
     "args": {"device": 0, "stream": 7, "correlation": step + 1}})]


@pytest.fixture
def folder(tmp_path):
    with gzip.open(tmp_path / "rank0.json.gz", "wt") as file:
        json.dump({"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": EVENTS}, file)
    return tmp_path


@pytest.fixture
def analysis(folder):
    return TraceAnalysis(trace_dir=str(folder), include_last_profiler_step=True)


def events_of(path):
    with gzip.open(path, "rt") as file:
        return json.load(file)["traceEvents"]


def test_the_critical_path_is_drawn(analysis, folder):
    graph, found = analysis.critical_path_analysis(0, "ProfilerStep", 0)
    assert found and graph.critical_path_events_set == {1, 2, 4}
    output = analysis.overlay_critical_path_analysis(0, graph, str(folder / "out"))
    assert output == str(folder / "out" / "overlaid_critical_path_rank0.json.gz")
    events = events_of(output)
    assert [e["name"] for e in events if e["ph"] == "X"] == ["ProfilerStep#0", "aten::mm", "cudaLaunchKernel", "gemm",
                                                             "ProfilerStep#1"]
    assert [e["args"].get("critical", 0) for e in events if e["ph"] == "X"] == [0, 1, 1, 1, 0]
    arrow = [e for e in events if e["ph"] in "sf"]
    assert [(e["ph"], e["pid"], e["tid"], e["ts"]) for e in arrow] == [("s", 1, 1, 2), ("f", 0, 7, 5)]
    assert arrow[0]["args"] == {"weight": 3, "critical": 1, "type": "critical_path_kernel_launch_delay"}
    assert sorted(os.listdir(folder / "out")) == ["overlaid_critical_path_rank0.json.gz"]


def test_all_events_and_edges_are_drawn(analysis, folder):
    graph, _ = analysis.critical_path_analysis(0, "ProfilerStep", (0, 1))
    assert graph.critical_path_events_set >= {1, 2, 6, 7}
    output = analysis.overlay_critical_path_analysis(0, graph, str(folder), only_show_critical_events=False,
                                                     show_all_edges=True)
    events = events_of(output)
    assert sum(e["ph"] == "X" for e in events) == len(EVENTS)
    types = {e["args"]["type"] for e in events if e["ph"] == "s"}
    assert {"critical_path_operator", "critical_path_kernel_launch_delay"} <= types
    with stepscope.open(folder / "rank0.json.gz") as before, stepscope.open(output) as after:
        for name in ("kernels", "critical_path", "overview"):
            tables = [[t.to_csv() for t in trace.analyze(name).tables] for trace in (before, after)]
            assert tables[0] == [t.replace(os.path.basename(output), "rank0.json.gz") for t in tables[1]]


def test_counters_lie_beside_the_trace(analysis, folder):
    analysis.generate_trace_with_counters()
    events = events_of(folder / "rank0_with_counters.json.gz")
    queue = [(e["ts"], e["args"]["Queue Length"]) for e in events if e["ph"] == "C"]
    assert queue == [(2, 1), (5, 0), (22, 1), (25, 0)]
    assert queue == [tuple(row) for row in analysis.get_queue_length_time_series()[0][["ts", "queue_length"]].to_numpy()]
    analysis.generate_trace_with_counters(TimeSeriesTypes.MEMCPY_BANDWIDTH, [0], "_copies")
    assert not [e for e in events_of(folder / "rank0_copies.json.gz") if e["ph"] == "C"]
    with pytest.raises(ValueError, match="rank 3 is not among"):
        analysis.generate_trace_with_counters(ranks=[3])


def test_no_input_is_overwritten(analysis, folder):
    source = folder / "rank0.json.gz"
    before = source.read_bytes()
    with pytest.raises(stepscope.UsageError, match="is the trace itself"):
        analysis.trace.overlay(source)
    with pytest.raises(stepscope.UsageError, match="must end in .json.gz or .json"):
        analysis.trace.overlay(folder / "x.pftrace")
    with pytest.raises(stepscope.UsageError, match="not 'queue'"):
        analysis.trace.overlay(folder / "x.json", what=["queue"])
    with pytest.raises(stepscope.Error, match="cannot be written"):
        analysis.trace.overlay(folder / "absent" / "x.json")
    assert source.read_bytes() == before and os.listdir(folder) == ["rank0.json.gz"]


def test_a_rank_is_chosen(two_ranks, tmp_path):
    with pytest.raises(stepscope.UsageError, match="several ranks"):
        two_ranks.overlay(tmp_path / "x.json.gz")
    two_ranks.overlay(tmp_path / "x.json.gz", rank=1, instance=0)
    with stepscope.open(tmp_path / "x.json.gz") as copy:
        assert [rank.rank for rank in copy.ranks] == [1]
    assert (SAMPLES / "generated_exposed_comm").is_dir()


def test_paths_are_saved_and_restored(analysis, folder):
    graph, _ = analysis.critical_path_analysis(0, "ProfilerStep", 1, data_load_events=["mm"])
    name = graph.save(str(folder / "saved"))
    assert name == str(folder / "saved.zip")
    again = restore_cpgraph(name, analysis.trace, 0)
    pd.testing.assert_frame_equal(again.get_critical_path_breakdown(), graph.get_critical_path_breakdown(),
                                  check_dtype=False)
    pd.testing.assert_series_equal(again.summary(), graph.summary())
    assert again.critical_path_nodes == graph.critical_path_nodes
    assert again.critical_path_edges_set == graph.critical_path_edges_set
    assert "data_loading" in again.summary().index
    assert again.get_critical_path_breakdown()["stream"].tolist()[-1] == 7
    overlaid = [analysis.overlay_critical_path_analysis(0, one, str(folder / where))
                for one, where in ((graph, "a"), (again, "b"))]
    assert events_of(overlaid[0]) == events_of(overlaid[1])
    with pytest.raises(ValueError, match="rank 0, not of rank 1"):
        restore_cpgraph(name, None, 1)
    with pytest.raises(ValueError, match="rank 0, not of rank 1"):
        analysis.overlay_critical_path_analysis(1, graph, str(folder))
    with pytest.raises(ValueError, match="is not a critical path saved by stepscope"):
        restore_cpgraph(str(folder / "rank0.json.gz"))


def test_instances(analysis):
    one, _ = analysis.critical_path_analysis(0, "ProfilerStep", None)
    assert one.critical_path_events_set == {1, 2, 4}
    whole, _ = analysis.critical_path_analysis(0, "", 0)
    assert whole.critical_path_events_set >= {1, 2, 6, 7}
    assert analysis.critical_path_analysis(0, "ProfilerStep", 7) == (None, False)
    with pytest.raises(ValueError, match="instance_id"):
        analysis.critical_path_analysis(0, "ProfilerStep", (2, 1))
