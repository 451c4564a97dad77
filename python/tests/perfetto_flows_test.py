"""Arrows of merged Perfetto traces: Perfetto's rule on the packets gives those that Chrome's rule gives on the sources."""

import collections
import gzip
import json

import program
import pytest
from perfetto_test import merged

TRACES = program.ROOT.parent / "shared" / "traces"
SOURCES = {
    "samples": sorted((program.SAMPLES / "generated_exposed_comm").glob("*.json*")),
    "two ranks on CPUs": sorted((program.ROOT / "test" / "data" / "gloo_ranks").glob("*.json*")),
    "torch": [program.SAMPLES / "cnn.pt.trace.json.gz"],
    "two recorded ranks": sorted((TRACES / "two_ranks").glob("*.json*")),
}


def perfettos_arrows(bytes_):
    """(process, name, process, name) of each arrow, counted: an id's next slice ends the arrow that its last slice began."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(bytes_)
    names, processes, parents, begins = {}, {}, {}, []
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        for entry in packet.interned_data.event_names:
            names[sequence, entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            parents[track.uuid] = track.parent_uuid
            if track.HasField("process"):
                processes[track.uuid] = track.process.process_name
        event = packet.track_event
        if packet.HasField("track_event") and event.type == event.TYPE_SLICE_BEGIN:
            slice_ = (processes[parents[event.track_uuid]], event.name or names[sequence, event.name_iid])
            begins.append((packet.timestamp, slice_, list(event.flow_ids), list(event.terminating_flow_ids)))
    arrows, open_ = collections.Counter(), {}
    for _, slice_, steps, ends in sorted(begins, key=lambda begin: begin[0]):
        for flow in steps:
            if flow in open_:
                arrows[open_[flow] + slice_] += 1
            open_[flow] = slice_
        for flow in ends:
            if flow in open_:
                arrows[open_.pop(flow) + slice_] += 1
    return arrows


def source_of(process):
    """Processes are called "rank 0 · GPU 0", or "trace.json · GPU 0" without a rank."""
    return process.split(" · ")[0]


def innermost(slices, time):
    inside = [s for s in slices if s["ts"] <= time <= s["ts"] + s["dur"]]
    return max(inside, key=lambda s: (s["ts"], -s["dur"]), default=None)


def chromes_arrows(path):
    """(name, name) of each arrow of a source, counted."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    slices = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            slices[str(event["pid"]), str(event["tid"])].append(event)
    arrows, open_ = collections.Counter(), {}
    flows = [e for e in events if e["ph"] in ("s", "t", "f")]
    for flow in sorted(flows, key=lambda e: (e["ts"], "stf".index(e["ph"]))):
        key, slice_ = (flow["cat"], flow["id"]), innermost(slices[str(flow["pid"]), str(flow["tid"])], flow["ts"])
        if flow["ph"] != "s" and slice_ is not None and open_.get(key) is not None:
            ends = sorted((open_[key], slice_), key=lambda s: s["ts"])  # Perfetto draws forward in time
            arrows[ends[0]["name"], ends[1]["name"]] += 1
        if flow["ph"] == "s" or (flow["ph"] == "t" and slice_ is not None):
            open_[key] = slice_
    return arrows


@pytest.mark.parametrize("what", SOURCES)
def test_every_arrow_of_the_sources_is_drawn_once_and_within_its_rank(what, tmp_path):
    if not SOURCES[what]:
        pytest.skip("the recordings are not here")
    drawn = perfettos_arrows(merged(SOURCES[what], tmp_path / "merged.pftrace").read_bytes())
    assert all(source_of(a) == source_of(b) for a, _, b, _ in drawn)
    by_name = collections.Counter()
    for (_, a, _, b), count in drawn.items():
        by_name[a, b] += count
    assert by_name == sum(map(chromes_arrows, SOURCES[what]), collections.Counter())


def made(rank):
    """300 launches: two categories whose ids differ by the rank, ids used again, and starts with two ends. 1200 arrows."""
    events = []

    def event(phase, name, tid, ts, **more):
        events.append({"ph": phase, "name": name, "cat": name, "pid": 7, "tid": tid, "ts": 1_700_000_000_000_000 + ts, **more})

    for i in range(300):
        event("X", f"{rank} launch {i}", 7, 100 * i, dur=50, cat="cpu_op")
        event("X", f"{rank} kernel {i}", 8, 100 * i + 60, dur=30, cat="cpu_op")
        for category, number in ("ac2g", i % 250), ("fwdbwd", i), ("other", i ^ rank):
            event("s", category, 7, 100 * i + 1, id=number)
            event("f", category, 8, 100 * i + 60, id=number, bp="e")
        event("f", "ac2g", 8, 100 * i + 70, id=i % 250, bp="e")  # a graph's launch has several kernels
    event("f", "lost", 8, 70, id=1)  # never begun
    return {"schemaVersion": 1, "distributedInfo": {"rank": rank}, "traceEvents": events}


def test_ids_that_ranks_and_categories_share(tmp_path):
    paths = [tmp_path / f"rank{rank}.json" for rank in range(4)]
    for rank, path in enumerate(paths):
        path.write_text(json.dumps(made(rank)))
    drawn = perfettos_arrows(merged(paths, tmp_path / "merged.pftrace").read_bytes())
    assert all(source_of(a) == source_of(b) for a, _, b, _ in drawn)
    assert {(a, b): n for (_, a, _, b), n in drawn.items()} == {
        (f"{rank} launch {i}", f"{rank} kernel {i}"): 4 for rank in range(4) for i in range(300)
    }
