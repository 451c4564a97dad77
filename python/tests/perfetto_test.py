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
