"""Compares results of stepscope.hta with Holistic Trace Analysis': check_X(analysis, golden) returns the differences.

HTA leaves some orders open (unstable sorts): if events share a time, queue lengths and bandwidths must be between the
results of the two extreme orders.
"""

import hashlib
import math
import re

import numpy as np
import pandas as pd

from stepscope.hta import DeviceType, TraceAnalysis, TraceDiff, shorten_name


def same(a, b):
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        absent = [x is None or (isinstance(x, float) and math.isnan(x)) for x in (a, b)]
        return all(absent) or (not any(absent) and a == b)
    if math.isnan(b) or math.isnan(a):
        return math.isnan(a) and math.isnan(b)
    return abs(a - b) <= 1e-6 + 1.001e-6 * abs(a) or (abs(a) > 1e4 and abs(a - b) <= 1.01e-4)


def flat(frame):
    frame = frame.copy()
    if isinstance(frame.columns, pd.MultiIndex):
        frame.columns = ["/".join(c) for c in frame.columns]
    return frame.reset_index() if frame.index.names != [None] else frame


def check_table(golden, frame, what):
    """Differences between a frame and a golden table, whose long texts are cut."""
    if golden is None or frame is None:
        fits = (golden is None or not golden["rows"]) and (frame is None or frame.empty)
        return [] if fits else [f"{what}: one is None"]
    frame = flat(frame)
    if list(frame.columns) != golden["columns"]:
        return [f"{what}: columns {list(frame.columns)}, HTA's {golden['columns']}"]
    bad = [] if len(frame) == golden["rows"] else [f"{what}: {len(frame)} rows, HTA's {golden['rows']}"]
    longest = max((len(x) for row in golden["data"] for x in row if isinstance(x, str)), default=0)
    rows = [[x.item() if hasattr(x, "item") else x for x in row] for row in frame.itertuples(index=False)]
    by_texts = {}
    for row in rows:
        by_texts.setdefault(tuple(x[:longest] for x in row if isinstance(x, str)), []).append(row)
    for row in golden["data"]:
        near = by_texts.get(tuple(x for x in row if isinstance(x, str)), [])
        found = next((r for r in near if all(isinstance(a, str) or same(a, b) for a, b in zip(row, r))), None)
        if found is None:
            return bad + [f"{what}: no row {str(row)[:300]}, near: {str(near[:1])[:300]}"]
        near.remove(found)
    for column, total in golden.get("column_sums", {}).items():
        if column != "rank" and abs(float(frame[column].sum()) - total) > 1e-6 * abs(total) + 1e-3:
            bad.append(f"{what}: sum of {column} {frame[column].sum()}, HTA's {total}")
    return bad


def check_temporal_breakdown(t, golden):
    return check_table(golden, t.get_temporal_breakdown(visualize=False), "temporal")


def check_comm_comp_overlap(t, golden):
    return check_table(golden, t.get_comm_comp_overlap(visualize=False), "overlap")


def check_gpu_kernel_breakdown(t, golden):
    bad = []
    for case, both in golden.items():
        options = {} if case == "default" else dict(num_kernels=3, duration_ratio=0.5, include_memory_kernels=False)
        types, kernels = t.get_gpu_kernel_breakdown(visualize=False, **options)
        wanted = dict(both["types"])
        wanted["data"] = [row for row in wanted["data"] if row[1] != 0]
        wanted["rows"] = len(wanted["data"])
        bad += check_table(wanted, types, f"{case} types") + check_table(both["kernels"], kernels, f"{case} kernels")
    return bad


def check_kernel_types(t, golden):
    _, kernels = t.get_gpu_kernel_breakdown(visualize=False, num_kernels=10**9)
    bad = []
    for kind, wanted in golden.items():
        rows = kernels[kernels["kernel_type"] == kind]
        if kind != "OTHER" and (len(rows), int(rows["sum (us)"].sum())) != (wanted["names"], wanted["sum"]):
            bad.append(f"{kind}: {len(rows)} names, {rows['sum (us)'].sum()} us; HTA's {wanted}")
    return bad


def check_idle_time_breakdown(t, golden):
    idle, stats = t.get_idle_time_breakdown(ranks=t.get_ranks(), visualize=False, show_idle_interval_stats=True)
    return check_table(golden["idle"], idle, "idle") + check_table(golden["intervals"], stats, "intervals")


def extremes(frame, step):
    """Sums of a series if, among changes at one time, additions come last, and if they come first."""
    change = step.diff().fillna(step.iloc[0])
    out = []
    for ascending in (True, False):
        rows = pd.DataFrame({"ts": frame["ts"], "change": change}).sort_values(
            ["ts", "change"], ascending=[True, ascending], kind="stable")
        out.append(rows["change"].cumsum())
    return out


def check_untied(golden, frame, tied, what):
    """Checks a summary, except rows whose series has several changes at one time, whose order HTA leaves open."""
    golden = golden or {"rows": 0, "data": []}
    if not golden["rows"] or frame is None:
        return [] if frame is None and not golden["rows"] else [f"{what}: HTA {golden['rows']} rows, here {frame}"]
    frame = flat(frame)
    keys = list(zip(*(frame[column] for column in golden["columns"][:2])))
    kept = {**golden, "data": [row for row in golden["data"] if (row[0], row[1]) not in tied]}
    kept["rows"] = len(kept["data"])
    bad = [] if len(frame) == golden["rows"] else [f"{what}: {len(frame)} rows, HTA's {golden['rows']}"]
    return bad + check_table(kept, frame[np.array([key not in tied for key in keys], dtype=bool)], what)


def check_queue_length(t, golden):
    bad = []
    ranks = t.get_ranks()
    summary = t.get_queue_length_summary(ranks=ranks)
    series = t.get_queue_length_time_series(ranks=ranks)
    tied = set()
    for row in (golden["summary"] or {"data": []})["data"]:
        rank, stream, points, mean = row[:4]
        rows = series[rank][series[rank]["stream"] == stream]
        lowest, highest = (low.mean() for low in extremes(rows, rows["queue_length"]))
        if lowest != highest:
            tied.add((rank, stream))
        wanted = golden["series"][str(rank)][str(stream)]
        if len(rows) != points or not lowest - 1e-6 <= mean <= highest + 1e-6:
            bad.append(f"rank {rank} stream {stream}: {len(rows)} points, mean {lowest}-{highest}; HTA's {mean}")
        if list(rows["ts"][:10]) != wanted["first10_ts"]:
            bad.append(f"rank {rank} stream {stream}: starts {list(rows['ts'][:10])}, HTA's {wanted['first10_ts']}")
    bad += check_untied(golden["summary"], summary, tied, "summary")
    for limit, wanted in ((1024, golden["blocked_1024"]), (golden.get("blocked_limit"), golden.get("blocked_at_limit"))):
        if limit:
            blocked = t.get_time_spent_blocked_on_full_queue(series, limit)
            kept = {(row[0], row[1]) for row in wanted["data"]}  # HTA keeps one stream per rank
            rows = np.array([key in kept for key in zip(blocked["rank"], blocked["stream"])], dtype=bool)
            bad += check_table(wanted, blocked[rows], f"blocked at {limit}")
    return bad


def check_memory_bw(t, golden):
    bad = []
    ranks = t.get_ranks()
    summary = t.get_memory_bw_summary(ranks=ranks)
    series = t.get_memory_bw_time_series(ranks=ranks)
    tied = set()
    for rank, kinds in golden["series"].items():
        for kind, wanted in kinds.items():
            rows = series[int(rank)][series[int(rank)]["name"] == kind]
            lowest, highest = (low.max() for low in extremes(rows, rows["memory_bw_gbps"]))
            if len(rows) != wanted["points"] or not lowest - 1e-5 <= wanted["max"] <= highest + 1e-5:
                bad.append(f"rank {rank} {kind}: {len(rows)} points, most {lowest}-{highest}; HTA's {wanted}")
            if list(rows["ts"][:8]) != wanted["first8_ts"]:
                bad.append(f"rank {rank} {kind}: starts {list(rows['ts'][:8])}")
            if rows["ts"].duplicated().any():
                tied.add((int(rank), kind))
    return bad + check_untied(golden["summary"], summary, tied, "summary")


def check_kernel_launch_stats(t, golden):
    bad = []
    for case, wanted in golden.items():
        rank, memory = map(int, re.fullmatch(r"rank(\d+)_mem(\d)", case).groups())
        frames = t.get_cuda_kernel_launch_stats(ranks=[rank], include_memory_events=bool(memory), visualize=False)
        bad += check_table(wanted["table"], frames[rank], case)
    return bad


def check_aten_op_kernels_and_delay(t, golden):
    bad = []
    for rank, wanted in golden.items():
        frame = t.get_aten_op_kernels_and_delay([int(rank)])[int(rank)]
        frame["seq_len"] = [len(sequence.split(" -> ")) for sequence in frame["kernel_sequence"]]
        bad += check_table(wanted, frame, f"rank {rank}")
    return bad


def check_frequent_sequences(t, golden):
    bad = []
    for case, wanted in golden.items():
        rank, operator, least = re.fullmatch(r"rank(\d+)\|(.*)\|min_len=(\d+)", case).groups()
        frame = t.get_frequent_cuda_kernel_sequences(operator, min_pattern_len=int(least), rank=int(rank))
        if not wanted["rows"]:
            bad += [] if frame.empty else [f"{case}: {len(frame)} rows, HTA none"]
            continue
        frame["pattern_len"] = frame["pattern"].str.count(re.escape("|"))
        frame["pattern_sha1"] = [hashlib.sha1(p.encode()).hexdigest()[:12] for p in frame["pattern"]]
        bad += check_table(wanted, frame, case)
    return bad


def check_user_annotation_breakdown(t, golden):
    bad = []
    for case, wanted in golden.items():
        options = {"num_kernels": 5} if "num_kernels=5" in case else {}
        if "allow=Optimizer" in case:
            options["allowlist_patterns"] = ["Optimizer"]
        frame = t.get_gpu_user_annotation_breakdown(use_gpu_annotation=case == "gpu", visualize=False, **options)
        bad += check_table(wanted, frame, case)
    return bad


def check_kernels_with_user_annotations(t, golden):
    bad = []
    for rank, wanted in golden.items():
        frame = t.get_gpu_kernels_with_user_annotations(int(rank))
        if wanted is None or frame is None:
            bad += [] if wanted is None and frame is None else [f"rank {rank}: one is None"]
            continue
        by_name = frame.groupby("s_user_annotation").agg(count=("dur", "size"), sum=("dur", "sum")).reset_index()
        bad += check_table(wanted["by_annotation"], by_name, f"rank {rank}")
        bad += [] if len(frame) == wanted["rows"] else [f"rank {rank}: {len(frame)} rows"]
    return bad


def check_profiler_steps(t, golden):
    return [] if t.get_profiler_steps() == golden["steps"] else [str(t.get_profiler_steps())]


def check_stragglers(t, golden):
    found = {case: t.get_potential_stragglers(num_candidates=int(case[2:])) for case in golden}
    return [] if found == golden else [str(found)]


def check_cupti_counters(t, golden):
    frames = t.get_cupti_counter_data_with_operators()
    bad = [] if len(frames) == len(golden) else [f"{len(frames)} frames"]
    for frame, wanted in zip(frames, golden):
        sums = {counter: frame[counter].sum() for counter in wanted["counter_sums"]}
        tops = [[row.top_level_op, row.bottom_level_op, row.op_stack] for row in frame.head(10).itertuples()]
        if len(frame) != wanted["rows"] or sums != wanted["counter_sums"]:
            bad.append(f"{len(frame)} rows, {sums}")
        if tops != [row[1:] for row in wanted["first10"]]:
            bad.append(str(tops))
    return bad


def check_call_graph(t, golden):
    bad = []
    for rank, wanted in golden.items():
        host = (t.get_trace_df(int(rank))["stream"] == -1).to_numpy()
        calls = t.get_call_graph(int(rank))[host]
        found = {"cpu_rows": len(calls), "num_kernels_sum": int(calls["num_kernels"].sum()),
                 "kernel_dur_sum_sum": int(calls["kernel_dur_sum"].sum()),
                 "kernel_span_sum": int(calls["kernel_span"].sum()),
                 "rows_with_kernels": int((calls["num_kernels"] > 0).sum())}
        for column in ("depth", "height"):
            found[f"{column}_hist"] = {str(k): int(n) for k, n in calls[column].value_counts().items()}
        bad += [f"{key}: {value}, HTA's {wanted[key]}" for key, value in found.items() if value != wanted[key]]
    return bad


def check_critical_path(t, golden):
    bad = []
    for wanted in golden:
        graph, found = t.critical_path_analysis(wanted["rank"], wanted["annotation"], wanted["instance"])
        if "error" in wanted:
            continue
        edges = graph.edges_by_type
        of_path = graph.get_critical_path_breakdown()
        lengths = of_path.groupby("bound_by")["duration"].sum().to_dict()
        types = {f"critical_path_{row.type}": [row.edges, row.weight // 1000] for row in edges.itertuples()}
        for what, ours, theirs in (
                ("edges", types, wanted["edges_by_type_count_weight"]),
                ("length", of_path["duration"].sum(), wanted["cp_length"]),
                ("bound by", {k: v for k, v in lengths.items() if v},
                 {k: v for k, v in wanted["bound_by_us"].items() if v}),
                ("events", sorted(graph.critical_path_events_set)[:1500], sorted(wanted["cp_events"]))):
            if ours != theirs:
                bad.append(f"{wanted['annotation']!r}: {what} {str(ours)[:300]}, HTA's {str(theirs)[:300]}")
    return bad


def check_parse(t, golden):
    facts = t._facts()
    earliest = int(facts["earliest"].iloc[0]) // 1000
    bad = [] if (t.get_ranks(), earliest) == (golden["ranks"], golden["min_ts"]) else [f"{t.get_ranks()} {earliest}"]
    for rank, wanted in golden["per_rank"].items():
        rows = t.get_trace_df(int(rank))
        partner = rows["index_correlation"]
        found = {"rows": len(rows), "columns": sorted(rows.columns), "device_type": t.get_device_type(int(rank)),
                 "ts_min": rows["ts"].min(), "ts_max": rows["ts"].max(), "dur_sum": rows["dur"].sum(),
                 "end_max": rows["end"].max() + earliest, "index_sum": rows["index"].sum(),
                 "index_correlation_gt0": (partner > 0).sum(), "index_correlation_eq0": (partner == 0).sum(),
                 "index_correlation_sum": partner.sum(),
                 "cat": {k: [len(x), int(x["dur"].sum())] for k, x in rows.groupby("cat")},
                 "streams": {str(k): int(n) for k, n in rows["stream"].value_counts().items()},
                 "iteration": {str(int(k)): int(n) for k, n in rows["iteration"].value_counts().items()}}
        bad += [f"{key}: {value}, HTA's {wanted[key]}" for key, value in found.items() if value != wanted[key]]
    return bad


def check_parse_include_last(t, golden):
    whole = TraceAnalysis([rank.path for rank in t.trace.ranks], include_last_profiler_step=True)
    found = {}
    for rank in golden:
        rows = whole.get_trace_df(int(rank))
        steps = sorted(int(i) for i in rows["iteration"].dropna().unique() if i >= 0)
        found[rank] = {"rows": len(rows), "steps": steps}
    return [] if found == golden else [str(found)]


def check_names(golden):
    return [name for name, (short, _) in golden.items() if shorten_name(name) != short]


def check_diff(analysis, golden, control, test):
    words = analysis.split("_")
    if words[0] == "compare":
        frame = TraceDiff.compare_traces(control, test, device_type=DeviceType[words[1]],
                                         use_short_name=words[2] == "short")
        return check_table(golden["table"], frame, analysis)
    found = TraceDiff.ops_diff(control, test, device_type=DeviceType[words[2]])
    return [what for what, wanted in golden.items()
            if len(found[what]) != wanted["n"]
            or not {n[:100] for n in wanted["first"]} <= {n[:100] for n in found[what]}]
