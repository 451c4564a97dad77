"""Runs make_trace in one dialect and checks the files it writes: they are JSON, and their parts agree.

usage: check_files.py MAKE_TRACE FOLDER DIALECT VENDOR
"""
import gzip
import json
import pathlib
import subprocess
import sys
from decimal import Decimal


def nanoseconds(number):
    return int(Decimal(number) * 1000)


def check_nesting(events, label):
    tracks = {}
    for event in events:
        start = nanoseconds(event["ts"])
        tracks.setdefault(event["tid"], []).append((start, -(start + nanoseconds(event["dur"]))))
    for tid, spans in tracks.items():
        open_ends = []
        for start, minus_end in sorted(spans):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or -minus_end <= open_ends[-1], f"{label}: spans cross on {tid}"
            open_ends.append(-minus_end)


def check_links(document, old):
    events = [e for e in document["traceEvents"] if e.get("ph") == "X"]
    runtime = [e for e in events if e["cat"].lower().endswith("runtime")]
    calls = {e["args"]["correlation"]: e for e in runtime}
    assert len(calls) == len(runtime), "correlation ids repeat"
    device = [e for e in events if e["cat"].lower() in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")]
    assert device
    ids = {e["args"]["External id"] for e in events if e["cat"] in ("cpu_op", "user_annotation", "Operator")}
    for event in device:
        call = calls[event["args"]["correlation"]]
        assert nanoseconds(event["ts"]) >= nanoseconds(call["ts"])
        assert event["args"]["external id" if old else "External id"] in ids
    pid = runtime[0]["pid"]
    check_nesting([e for e in events if e["pid"] == pid and e["cat"] != "Trace"], "host")


def check_python(document):
    calls = [e for e in document["traceEvents"] if e.get("cat") == "python_function"]
    assert calls
    ids = {e["args"]["Python id"] for e in calls}
    assert len(ids) == len(calls)
    roots = [e for e in calls if e["args"]["Python parent id"] is None]
    assert len(roots) == 1
    assert all(e["args"]["Python parent id"] in ids for e in calls if e not in roots)


def check_flows(document):
    sources, ends = set(), set()
    for event in document["traceEvents"]:
        if event.get("cat") == "fwdbwd":
            (sources if event["ph"] == "s" else ends).add(event["id"])
    assert sources and sources == ends


def union(spans):
    length, reached = 0, -1
    for start, end in sorted(spans):
        length += max(0, end - max(start, reached))
        reached = max(reached, end)
    return length


def check_truth(document, truth, rank):
    """Every step in the file matches the truth, seen through the rank's clock."""
    events = [e for e in document["traceEvents"] if e.get("ph") == "X"]
    calls = {e["args"]["correlation"]: e for e in events if e["cat"].endswith("_runtime")}
    clock = truth["clocks"][rank]
    base = int(document["baseTimeNanoseconds"])

    def shown(at):
        return at + clock["offset_ns"] + int(at // 1000 * clock["drift_ppb"] / 10**6) + truth["t0_ns"] - base

    for step in (s for s in truth["steps"] if s["rank"] == rank):
        mark = next(e for e in events if e["name"] == f"ProfilerStep#{step['number']}" and e["cat"] == "user_annotation")
        first = nanoseconds(mark["ts"])
        last = first + nanoseconds(mark["dur"])
        ends, kernels = [], []
        for event in events:
            if event["cat"] not in ("kernel", "gpu_memcpy", "gpu_memset"):
                continue
            if not first <= nanoseconds(calls[event["args"]["correlation"]]["ts"]) <= last:
                continue
            start = nanoseconds(event["ts"])
            ends.append(start + nanoseconds(event["dur"]))
            if event["cat"] == "kernel" and "AllReduce" not in event["name"]:
                kernels.append((start, ends[-1]))
        assert len(ends) == step["launches"]
        assert abs(max(ends) - shown(step["device_end"])) <= 1
        assert abs(union(kernels) - step["compute"]) <= 1 + step["length"] // 10_000


def main():
    program, folder, dialect, vendor = sys.argv[1:]
    folder = pathlib.Path(folder)
    truth_path = folder / "truth.json"
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([program, "--out", folder, "--gzip", "--truth", truth_path, "--dialect", dialect, "--vendor", vendor,
                    "--ranks", "2", "--layers", "3", "--steps", "3", "--streams", "2", "--shapes", "--stacks",
                    "--memory", "--item-sync", "2", "--clock-skew", "800", "--clock-drift", "40"], check=True)
    truth = json.loads(truth_path.read_text())
    for rank in range(2):
        text = gzip.decompress((folder / f"rank{rank}.pt.trace.json.gz").read_bytes())
        document = json.loads(text, parse_float=str)
        assert document["stepscope_generated"] is True
        assert document["distributedInfo"]["rank"] == rank
        check_links(document, dialect == "2021")
        if dialect != "2021":
            check_python(document)
            check_flows(document)
        if dialect == "ns" and vendor == "cuda":
            check_truth(document, truth, rank)
    assert len(truth["steps"]) == 6 and len(truth["clocks"]) == 2
    assert {c["offset_ns"] for c in truth["clocks"]} != {0}
    for step in truth["steps"]:
        parts = step["compute"] + step["exposed_comm"] + step["exposed_copy"] + sum(step["idle"].values())
        assert parts == step["length"]


main()
