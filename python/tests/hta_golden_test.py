"""Compares stepscope.hta with Holistic Trace Analysis' results on real recordings. Prints how many agree.

The recordings and HTA's results are in ../shared, outside the project; without them the test is skipped.
"""

import json
import pathlib

import pytest

pytest.importorskip("pandas")

import hta_checks  # noqa: E402

from stepscope.hta import LabeledTrace, TraceAnalysis  # noqa: E402

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared"
GOLDEN = SHARED / "golden" / "hta"

FOLDERS = {
    "amd_trace": "mi250_toy", "cpu_only": "cpu_only", "cupti_profiler": "a100_cupti_ranges",
    "df_index_resolver": "v100_memory_events", "mtia_inference": "mtia_inference", "nccl_parser_config": "a100_nccl",
    "ns_resolution": "v100_ns_resolution", "rank_unavailable": "no_rank", "trace_filter_2ranks": "two_ranks",
    "triton_example": "triton", "trace_diff_control": "diff_pair/a100", "trace_diff_test": "diff_pair/v100",
    "cp_simple_add": "critical_path/simple_add.json.gz", "cp_event_sync": "critical_path/cuda_event_sync.json.gz",
    "cp_event_sync_multi_stream": "critical_path/cuda_event_sync_multi_stream.json.gz",
    "kineto_resnet50_0_a": "tb_samples/resnet50_num_workers_0",
    "kineto_resnet50_4_a": "tb_samples/resnet50_num_workers_4",
}

# Results that differ, and why. The test fails if a listed result agrees, so that its line gets removed.
NOT_MET = {
    "mtia_inference gpu_kernel_breakdown": "events of -1 µs after rounding make HTA's sweep lose a state",
    "amd_trace call_graph": "events without a length at a time at which others end and begin: HTA's order is open",
    "trace_diff_control call_graph": "events without a length at a time at which others end and begin: HTA's order is open",
    "trace_diff_test frequent_sequences": "device events of several streams begin at one time: HTA's order is open",
    "df_index_resolver critical_path": "launches and begins at one microsecond: the queue's length there is open",
    "nccl_parser_config critical_path": "launches and begins at one microsecond: the queue's length there is open",
    "trace_diff_control critical_path": "two of 19,839 edges along overlapping threads differ, and with them the path",
    "memory_timeline process_raw_events": "the recorder's memory time line is read with the memory issue",
}


def paths_of(name):
    place = SHARED / "traces" / FOLDERS[name]
    paths = sorted(str(p) for p in place.iterdir()) if place.is_dir() else [str(place)]
    return paths[:1] if name.startswith("kineto") else paths


def test_files_that_cannot_be_told_apart(tmp_path):
    one = {"distributedInfo": {"rank": 3, "world_size": 8},
           "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5}]}
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(one))
    with pytest.warns(UserWarning, match="b.json repeats another file and is left out"):
        assert TraceAnalysis(trace_dir=str(tmp_path)).get_ranks() == [3]
    assert TraceAnalysis({4: "a.json", 2: "b.json"}, trace_dir=str(tmp_path)).get_ranks() == [2, 4]
    with pytest.raises(ValueError, match="the same file for several ranks"):
        TraceAnalysis({0: "a.json", 1: "a.json"}, trace_dir=str(tmp_path))


def differences(trace, analysis, golden, opened):
    if trace == "names":
        return hta_checks.check_names(golden)
    if trace == "trace_diff":
        for label, name in (("Control", "trace_diff_control"), ("Test", "trace_diff_test")):
            if label not in opened:
                opened[label] = LabeledTrace(label, trace_files=paths_of(name))
        return hta_checks.check_diff(analysis, golden, opened["Control"], opened["Test"])
    if trace not in FOLDERS:
        return ["no such trace"]
    if trace not in opened:
        opened[trace] = TraceAnalysis(paths_of(trace))
    return getattr(hta_checks, f"check_{analysis}")(opened[trace], golden)


@pytest.mark.filterwarnings("ignore:.*ranks are not among these files")
def test_goldens(capsys):
    if not GOLDEN.is_dir():
        pytest.skip(f"{GOLDEN} is absent: HTA's results and the recordings are not part of the project")
    opened, met, total, missed, unexpected = {}, 0, 0, {}, []
    for path in sorted(GOLDEN.glob("*__*.json")):
        golden = json.loads(path.read_text())
        if "error" in golden:
            continue
        total += 1
        trace, analysis = path.stem.split("__")
        bad = differences(trace, analysis, golden["result"], opened)
        met += not bad
        if bad:
            missed[path.stem] = "; ".join(bad)[:600]
        if bool(bad) != (f"{trace} {analysis}" in NOT_MET):
            unexpected.append(f"{path.stem}: {missed.get(path.stem, 'is met now: take it off NOT_MET')}")
    with capsys.disabled():
        print(f"\nHTA's goldens: {met} of {total} met")
    assert not unexpected, "\n".join(unexpected)


def test_where_hta_raises_there_is_an_answer_or_a_sentence():
    if not GOLDEN.is_dir():
        pytest.skip(f"{GOLDEN} is absent: HTA's results and the recordings are not part of the project")
    calls = {
        "aten_op_kernels_and_delay": lambda t: t.get_aten_op_kernels_and_delay(t.get_ranks()),
        "call_graph": lambda t: t.get_call_graph(t.get_ranks()[0]),
        "frequent_sequences": lambda t: t.get_frequent_cuda_kernel_sequences("aten::", rank=t.get_ranks()[0]),
        "idle_time_breakdown": lambda t: t.get_idle_time_breakdown(t.get_ranks(), show_idle_interval_stats=True),
        "temporal_breakdown": lambda t: t.get_temporal_breakdown(),
        "stragglers": lambda t: t.get_potential_stragglers(),
    }
    tried = 0
    for path in sorted(GOLDEN.glob("*__*.json")):
        trace, analysis = path.stem.split("__")
        if "error" not in json.loads(path.read_text()):
            continue
        tried += 1
        try:
            assert calls[analysis](TraceAnalysis(paths_of(trace))) is not None
        except ValueError as error:
            assert len(str(error).split()) > 5, path.stem
    assert tried > 0
