"""The frames of stepscope.hta have HTA's columns and indices, also where a trace lacks something; helpers that HTA has exist."""

import json
import pathlib

import pytest

pd = pytest.importorskip("pandas")

from stepscope.hta import DeviceType, LabeledTrace, TraceAnalysis, TraceDiff  # noqa: E402

from program import SAMPLES  # noqa: E402


def host(name, ts, dur, cat="cpu_op", **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": args}


def device(name, ts, dur, correlation, cat="kernel", stream=7, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur,
            "args": {"stream": stream, "correlation": correlation, "device": 0, **args}}


def opened(tmp_path, events, **options):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return TraceAnalysis({0: str(path)}, **options)


LAUNCHES = [
    device("void first<int>(int)", 130, 20, 1),
    host("aten::mm", 100, 30), host("cudaLaunchKernel", 105, 5, "cuda_runtime", correlation=1),
    host("aten::copy_", 140, 30), host("cudaMemcpyAsync", 145, 5, "cuda_runtime", correlation=2),
    device("Memcpy HtoD (Pinned -> Device)", 160, 5, 2, "gpu_memcpy", **{"memory bandwidth (GB/s)": 2.5}),
]


@pytest.fixture
def launches(tmp_path):
    return opened(tmp_path, LAUNCHES)


def test_a_launch_of_the_first_event_of_the_file_counts(launches):
    stats = launches.get_cuda_kernel_launch_stats()[0]
    assert stats.values.tolist() == [[1, 5, 20, 20], [2, 5, 5, 10]]


def test_a_launch_that_is_the_first_event_of_the_file_counts(tmp_path):
    events = [LAUNCHES[2], *LAUNCHES[:2], *LAUNCHES[3:]]
    assert opened(tmp_path, events).get_cuda_kernel_launch_stats()[0]["correlation"].tolist() == [1, 2]


def test_queues_and_rates_name_their_process_and_thread(launches):
    queue = launches.get_queue_length_time_series()[0]
    assert list(queue.columns) == ["ts", "pid", "tid", "stream", "queue_length"]
    assert queue.iloc[0].tolist() == [45, 0, 7, 7, 1]
    rates = launches.get_memory_bw_time_series()[0]
    assert list(rates.columns) == ["ts", "pid", "name", "memory_bw_gbps"]
    assert rates.iloc[0].tolist() == [60, 0, "Memcpy HtoD", 2.5]


def test_statistics_of_gaps_are_indexed_by_category(launches):
    idle, stats = launches.get_idle_time_breakdown(show_idle_interval_stats=True)
    assert stats.index.name == "idle_category" and set(stats.index) == set(idle["idle_category"])
    assert list(stats.columns) == ["rank", "stream", "count", "mean", "std", "min", "25%", "50%", "75%", "max"]


def test_every_rank_that_is_asked_for_has_a_frame(tmp_path):
    none = opened(tmp_path, [host("python stuff", 0, 10, "user_annotation")])
    frame = none.get_aten_op_kernels_and_delay()[0]
    assert frame.empty and list(frame.columns) == ["aten_op_name", "kernel_sequence", "occurrence_count", "avg_aten_op_launch_delay",
                                                   "avg_runtime_delay"]
    assert none.get_cuda_kernel_launch_stats()[0].empty


def test_absent_texts_are_empty_not_nan(launches):
    for frame in (launches.get_trace_df(0), LabeledTrace(t=launches).extract_ops(0)):
        texts = [c for c in frame.columns if not pd.api.types.is_numeric_dtype(frame[c].dtype)]
        assert "collective_name" in texts and not frame[texts].isna().any().any()
        assert frame["collective_name"].tolist() == [""] * len(frame)


def test_a_comparison_is_indexed_by_name(launches):
    for short, key in ((False, "name"), (True, "short_name")):
        frame = TraceDiff.compare_traces(LabeledTrace("A", t=launches), launches, use_short_name=short)
        assert frame.index.name == key and frame.index.is_monotonic_increasing
        assert list(frame.columns) == ["A_counts", "A_total_duration", "Test_counts", "Test_total_duration", "diff_counts", "diff_duration",
                                       "counts_change_categories"]
        assert ("first" in frame.index) == short and ("void first<int>(int)" in frame.index) != short
    assert TraceDiff.ops_diff(launches, launches)["unchanged"] == sorted(event["name"] for event in LAUNCHES)
    assert TraceDiff.visualize_counts_diff(frame) is None and TraceDiff.visualize_duration_diff(frame, show_image=False) is None


def test_operations_of_a_trace(launches):
    side = LabeledTrace(t=launches)
    ops = side.extract_ops(0, [], DeviceType.CPU)
    assert ops.index.tolist() == ops["index"].tolist() == [1, 2, 3, 4] and "rank" not in ops
    assert ops["ts"].tolist() == [100, 105, 140, 145] and ops["end"].tolist() == [130, 110, 170, 150]
    summary = side.get_ops_summary(side.extract_ops(0))
    assert list(summary.columns) == ["cat", "name", "short_name", "counts", "total_duration"]
    assert summary[summary["cat"] == "kernel"].values.tolist() == [["kernel", "void first<int>(int)", "first", 1, 20]]
    with pytest.raises(ValueError, match="rank 3 is not among the ranks"):
        side.extract_ops(3)


def test_counters_are_columns_of_the_ranges(tmp_path):
    events = [host("aten::mm", 100, 30), host("cudaLaunchKernel", 105, 5, "cuda_runtime", correlation=1),
              host("gemm", 110, 10, "cuda_profiler_range", **{"inst.sum": 64})]
    frame = opened(tmp_path, events).get_cupti_counter_data_with_operators()[0]
    assert frame[["index", "cat", "name", "ts", "inst.sum", "top_level_op", "bottom_level_op"]].values.tolist() == [
        [2, "cuda_profiler_range", "gemm", 10, 64, "aten::mm", "aten::mm"]]
    assert frame["op_stack"].tolist() == [["aten::mm"]]


def test_the_trace_behind_an_analysis():
    analysis = TraceAnalysis([str(SAMPLES / "generated_slow_input.json.gz")], include_last_profiler_step=True)
    trace = analysis.t
    assert trace.get_ranks() == [0] and trace.get_iterations(0) == analysis.get_profiler_steps() == [1, 2, 3, 4]
    pd.testing.assert_frame_equal(trace.get_trace(0), analysis.get_trace_df(0))
    assert list(trace.traces) == list(trace.get_all_traces()) == [0] and trace.trace_files == {0: analysis.trace.ranks[0].path}
    assert trace.get_trace_duration(0) == trace.get_trace(0)["ts"].max() and trace.get_trace(0)["ts"].min() == 0
    first = LabeledTrace(t=analysis).extract_ops(0)["ts"].min()
    assert trace.min_ts == first


def test_a_critical_path_as_a_graph():
    networkx = pytest.importorskip("networkx")
    path, found = TraceAnalysis([str(SAMPLES / "generated_slow_input.json.gz")]).critical_path_analysis(0, "ProfilerStep", 1)
    graph = path.to_networkx()
    assert found and networkx.is_directed_acyclic_graph(graph) and set(graph) == set(path.critical_path_nodes)
    steps = path.get_critical_path_breakdown()
    assert graph.size(weight="weight") == pytest.approx(steps["duration"].sum())
    assert networkx.dag_longest_path(graph) == path.critical_path_nodes
    assert {kind for _, _, kind in graph.edges(data="type")} == set(steps["type"])
    assert not steps["s_name"].str.contains("<").any() and len(steps["s_name"]) == len(steps)


def test_files_of_one_rank_are_the_ranks_that_they_are_given_as(tmp_path):
    for name, ts in (("a.json", 100), ("b.json", 100), ("c.json", 90_000_000)):
        (tmp_path / name).write_text(json.dumps({"distributedInfo": {"rank": 0, "world_size": 3},
                                                 "traceEvents": [{**host("aten::mm", ts, 30), "name": name}]}))
    analysis = TraceAnalysis({7: "a.json", 2: "b.json", 0: "c.json"}, trace_dir=str(tmp_path))
    assert analysis.get_ranks() == [0, 2, 7]
    assert {rank: analysis.get_trace_df(rank)["name"].tolist() for rank in (0, 2, 7)} == {0: ["c.json"], 2: ["b.json"], 7: ["a.json"]}
    with pytest.raises(ValueError, match="below 0"):
        TraceAnalysis({-1: "a.json"}, trace_dir=str(tmp_path))


def test_copies_beside_the_originals_are_not_read_again(tmp_path):
    for file in (SAMPLES / "generated_exposed_comm").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    before = TraceAnalysis(trace_dir=str(tmp_path))
    before.generate_trace_with_counters(ranks=[0, 1])
    path, _ = before.critical_path_analysis(0, "ProfilerStep", 0)
    before.overlay_critical_path_analysis(0, path, str(tmp_path))
    assert len(list(pathlib.Path(tmp_path).iterdir())) == 5
    after = TraceAnalysis(trace_dir=str(tmp_path))
    assert after.get_ranks() == [0, 1] and [rank.path for rank in after.trace.ranks] == [rank.path for rank in before.trace.ranks]
    pd.testing.assert_frame_equal(after.get_temporal_breakdown(), before.get_temporal_breakdown())


def test_collectives_that_hta_does_not_know_are_named():
    trace = TraceAnalysis(trace_dir=str(SAMPLES / "generated_exposed_comm"))
    with pytest.raises(ValueError, match="begin with ncclKernel, and here they are named ncclDevKernel_AllReduce_Sum_bf16_RING_LL, so"):
        trace.get_potential_stragglers()


def test_a_trace_without_collectives_has_no_stragglers(tmp_path):
    files = {}
    for rank in (0, 1):
        files[rank] = str(tmp_path / f"rank{rank}.json")
        pathlib.Path(files[rank]).write_text(json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": LAUNCHES}))
    with pytest.raises(ValueError, match="begin with ncclKernel, and there is none here, so"):
        TraceAnalysis(files).get_potential_stragglers()
