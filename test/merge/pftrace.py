"""Reads a Perfetto trace with nothing but the wire format and the published field numbers, and reports broken rules:
begins without ends, times that go back on a track, numbers used before they are defined, tracks never described."""
import collections
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {kind}")
        if at > len(data):
            raise ValueError("a field ends behind its message")
        yield key >> 3, value


def grouped(data):
    found = collections.defaultdict(list)
    for field, value in fields(data):
        found[field].append(value)
    return found


def check(data):
    """Counts of the trace's contents; raises AssertionError with the rule that the trace breaks."""
    defined = collections.defaultdict(set)  # (sequence, interned field): the numbers defined so far
    depth = collections.Counter()
    last = {}
    described = {}
    count = collections.Counter()
    flows, flow_ends = set(), set()
    started = set()
    for field, packet in fields(data):
        assert field == 1, "the file is packets, field 1"
        count["packets"] += 1
        p = grouped(packet)
        sequence = p[10][0]
        assert sequence > 0
        flags = p[13][0] if p[13] else 0
        if flags & 1:
            started.add(sequence)
            for key in [k for k in defined if k[0] == sequence]:
                defined[key].clear()
            assert grouped(p[59][0])[58] == [1], "times are REALTIME"
        for table in p[12]:
            for kind, entry in fields(table):
                number = grouped(entry)[1][0]
                assert number > 0
                defined[sequence, kind].add(number)
        for descriptor in p[60]:
            d = grouped(descriptor)
            assert d[1][0] not in described, "a track is described once"
            assert not d[5] or d[5][0] in described, "a parent comes first"
            described[d[1][0]] = d
            count["processes"] += bool(d[3])
        for event in p[11]:
            assert sequence in started and flags & 2
            e = grouped(event)
            time, track, kind = p[8][0], e[11][0], e[9][0]
            assert track in described, "a track is described before its events"
            assert time >= last.get(track, 0), "times of a track do not go back"
            last[track] = time
            count[("", "begins", "ends", "instants", "counters")[kind]] += 1
            depth[track] += {1: 1, 2: -1}.get(kind, 0)
            assert depth[track] >= 0, "an end has a begin"
            for used, table in ((e[10], 2), (e[3], 1)):
                assert all(number in defined[sequence, table] for number in used), "names are defined before use"
            for annotation in e[4]:
                a = grouped(annotation)
                assert a[1][0] in defined[sequence, 3] and all(n in defined[sequence, 29] for n in a[17])
            flows.update(e[47])
            flow_ends.update(e[48])
    assert not any(depth.values()), "every begin has an end"
    count["tracks"] = len(described)
    count["flows"], count["whole_flows"] = len(flows), len(flows & flow_ends)
    return count


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        print(dict(check(file.read())))
