"""Writes a memory snapshot whose first device has the events of another one N times, in the opcodes of Python's pickle.

repeat_snapshot.py SNAPSHOT N OUT

Later turns are later in time. Memory stays that of one SNAPSHOT, while Python's own pickle would need that of all.
"""
import json
import pickle
import struct
import sys

BATCH = 1000  # items of an APPENDS, as Python writes them


class Writer:
    """Values in protocol 4; texts, tuples and frames are written once and then referred to by the memo."""

    def __init__(self, file):
        self.file = file
        self.memo = 0
        self.known = {}
        self.events = []  # their parts, once all values are known
        self.bodies = None  # lists of frames by identity, likewise
        self.same = {}

    def kept(self, key, written):
        """The bytes of a value that is memoized under `key`, at its first and at later places."""
        if key in self.known:
            return self.known[key]
        index, self.memo = self.memo, self.memo + 1
        self.known[key] = b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index)
        return written + b"\x94"

    def value(self, value):
        if value is None or value is True or value is False:
            return {None: b"N", True: b"\x88", False: b"\x89"}[value]
        if isinstance(value, int):
            return integer(value)
        if isinstance(value, str):
            encoded = value.encode("utf-8", "surrogatepass")
            head = b"\x8c" + bytes([len(encoded)]) if len(encoded) < 256 else b"X" + struct.pack("<I", len(encoded))
            return self.kept(value, head + encoded)
        if isinstance(value, float):
            return b"G" + struct.pack(">d", value)
        if isinstance(value, tuple):
            return b"(" + b"".join(map(self.value, value)) + b"t"
        if isinstance(value, list):
            return b"]" + b"".join(b"(" + b"".join(map(self.value, value[at:at + BATCH])) + b"e" for at in range(0, len(value), BATCH))
        return b"}" + b"(" + b"".join(self.value(k) + self.value(v) for k, v in value.items()) + b"u"

    def frame(self, frame):
        if id(frame) in self.known:
            return self.known[id(frame)]
        return self.kept(id(frame), self.value(frame))

    def parts(self, event):
        """What comes before the time, the time, what comes behind it, and the list of frames."""
        out, before = [b"}\x94("], b""
        for key, value in event.items():
            if key == "frames":
                continue
            if key == "time_us":
                before, out = b"".join(out) + self.value(key), []
            else:
                out.append(self.value(key) + self.value(value))
        return before, event["time_us"], b"".join(out) + self.value("frames"), event["frames"]

    def turn(self, events, delay):
        """The events, `delay` µs later. In the first turn each value is new; later ones only refer to them."""
        first, lists = self.bodies is None, {}
        if not first and not self.events:
            self.events = [self.parts(event) for event in events]
        for at in range(0, len(events), BATCH):
            out = [b"("]
            for i in range(at, min(at + BATCH, len(events))):
                self.memo += 1  # the event
                before, time, behind, frames = self.parts(events[i]) if first else self.events[i]
                out += (before, integer(time + delay), behind, self.frames(frames, lists), b"u")
            out.append(b"e")
            self.file.write(b"".join(out))
        self.bodies = self.bodies or {}

    def frames(self, frames, lists):
        """A list, or the memo's index of where this turn wrote it: events share lists."""
        if id(frames) in lists:
            return lists[id(frames)]
        index, self.memo = self.memo, self.memo + 1
        lists[id(frames)] = b"j" + struct.pack("<I", index)
        if self.bodies is None:
            return b"]\x94(" + b"".join(map(self.frame, frames)) + b"e"
        if id(frames) not in self.bodies:
            body = b"]\x94(" + b"".join(map(self.frame, frames)) + b"e"
            self.bodies[id(frames)] = self.same.setdefault(body, body)
        return self.bodies[id(frames)]


def integer(value):
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if 0 <= value < 65536:
        return b"M" + struct.pack("<H", value)
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    size = value.bit_length() // 8 + 1
    return b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)


def main(source, turns, out):
    with open(source, "rb") as file:
        snapshot = pickle.load(file)
    events = snapshot.pop("device_traces")[0]
    with open(out, "wb") as file:
        writer = Writer(file)
        file.write(b"\x80\x04}(")
        for key, value in snapshot.items():
            file.write(writer.value(key) + writer.value(value))
        file.write(writer.value("device_traces") + b"]]")
        length = events[-1]["time_us"] - events[0]["time_us"] + 1
        for turn in range(int(turns)):
            writer.turn(events, turn * length)
        file.write(b"au.")
    print(json.dumps({"events": len(events) * int(turns)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
