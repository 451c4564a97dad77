"""Merged Perfetto traces, read with Perfetto's own schema (the package perfetto)."""

import collections
import gzip
import json

import program
import pytest

TRACES = program.ROOT.parent / "shared" / "traces"
DATA = program.ROOT / "test" / "data"
SOURCES = {
    "samples": [program.SAMPLES / "generated_exposed_comm"],
    "two ranks on CPUs": [DATA / "gloo_ranks"],
    "torch and reads": [program.SAMPLES / "cnn.pt.trace.json.gz", DATA / "reads.pfw"],
    "two recorded ranks": [TRACES / "two_ranks"],
    "torch and DFTracer": [TRACES / "h100_vit" / "trace.json.gz", TRACES / "pfw" / "test.pfw"],
}


def merged(sources, path):
    code, _, problem = program.said("merge", *sources, "-o", path)
    assert code == 0, problem
    return path


def slices_of(path):
    with gzip.open(path, "rt") as file:
        return collections.Counter(e["name"] for e in json.load(file)["traceEvents"] if e["ph"] == "X")


@pytest.mark.parametrize("what", SOURCES)
def test_perfettos_schema_knows_every_field_and_finds_every_slice(what, tmp_path):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    for source in SOURCES[what]:
        if not source.exists():
            pytest.skip(f"{source.relative_to(program.ROOT.parent)} is not here")
    bytes_ = merged(SOURCES[what], tmp_path / "merged.pftrace").read_bytes()
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(bytes_)
    trace.DiscardUnknownFields()
    assert trace.ByteSize() == len(bytes_)

    event_type = perfetto_trace_pb2.TrackEvent
    names, begins, depth, tracks = {}, collections.Counter(), collections.Counter(), set()
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        for entry in packet.interned_data.event_names:
            names[sequence, entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            tracks.add(packet.track_descriptor.uuid)
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        assert event.track_uuid in tracks
        if event.type == event_type.TYPE_SLICE_BEGIN:
            begins[event.name or names[sequence, event.name_iid]] += 1
            depth[event.track_uuid] += 1
        elif event.type == event_type.TYPE_SLICE_END:
            depth[event.track_uuid] -= 1
            assert depth[event.track_uuid] >= 0
    assert not any(depth.values())
    assert begins == slices_of(merged(SOURCES[what], tmp_path / "merged.json.gz"))


def sources_flows(path):
    """What the arrows of a source link, (start of a slice, of the other): from the last start of a category and id to each end."""
    events = json.loads(path.read_text())["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    linked, begun = collections.Counter(), {}
    for flow in sorted((e for e in events if e["ph"] in "sf"), key=lambda e: (e["ts"], e["ph"] == "f")):
        here = [s for s in slices if s["tid"] == flow["tid"] and s["ts"] <= flow["ts"] <= s["ts"] + s["dur"]]
        name = max(here, key=lambda s: s["ts"])["name"]
        key = flow["cat"], flow["id"]
        if flow["ph"] == "s":
            begun[key] = name
        elif key in begun:
            linked[begun[key], name] += 1
    return linked


def perfettos_flows(path):
    """What Perfetto links: packets in the order of their times; a flow's id runs from slice to slice until one ends it."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(path.read_bytes())
    names, active, linked = {}, {}, collections.Counter()
    for packet in trace.packet:
        for entry in packet.interned_data.event_names:
            names[packet.trusted_packet_sequence_id, entry.iid] = entry.name
    for packet in sorted((p for p in trace.packet if p.HasField("track_event")), key=lambda p: p.timestamp):
        event = packet.track_event
        if event.type != perfetto_trace_pb2.TrackEvent.TYPE_SLICE_BEGIN:
            continue
        name = names[packet.trusted_packet_sequence_id, event.name_iid]
        for flow in event.flow_ids:
            if flow in active:
                linked[active[flow], name] += 1
            active[flow] = name
        for flow in event.terminating_flow_ids:
            if flow in active:
                linked[active.pop(flow), name] += 1
    return linked


def test_arrows_link_what_they_linked_in_each_source(tmp_path):
    sources = []
    for rank in range(4):
        events = []

        def event(phase, name, tid, ts, events=events, **more):
            events.append({"ph": phase, "name": name, "cat": name, "pid": 7, "tid": tid, "ts": 1_700_000_000_000_000 + ts, **more})

        for i in range(300):
            event("X", f"{rank} launch {i}", 7, 100 * i, dur=50, cat="cpu_op")
            event("X", f"{rank} kernel {i}", 8, 100 * i + 60, dur=30, cat="cpu_op")
            for category, number in ("ac2g", i % 250), ("fwdbwd", i), ("other", i ^ rank):
                event("s", category, 7, 100 * i + 1, id=number)
                event("f", category, 8, 100 * i + 60, id=number, bp="e")
            event("f", "ac2g", 8, 100 * i + 70, id=i % 250, bp="e")  # a graph's launch has several kernels
        path = tmp_path / f"rank{rank}.json"
        path.write_text(json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": rank}, "traceEvents": events}))
        sources.append(path)
    expected = sum((sources_flows(path) for path in sources), collections.Counter())
    assert sum(expected.values()) == 4 * 300 * 4
    assert perfettos_flows(merged(sources, tmp_path / "merged.pftrace")) == expected
