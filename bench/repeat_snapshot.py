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

    def events(self, events, delay):
        """One turn of `events`, `delay` µs later."""
        lists = {}  # by the identity of a list of frames: where this turn wrote it
        for at in range(0, len(events), BATCH):
            out = [b"("]
            for event in events[at:at + BATCH]:
                self.memo += 1
                out.append(b"}\x94(")
                for key, value in event.items():
                    out.append(self.value(key))
                    if key == "time_us":
                        out.append(integer(value + delay))
                    elif key == "frames":
                        out.append(self.frames(value, lists))
                    else:
                        out.append(self.value(value))
                out.append(b"u")
            out.append(b"e")
            self.file.write(b"".join(out))

    def frames(self, frames, lists):
        if id(frames) in lists:
            return lists[id(frames)]
        index, self.memo = self.memo, self.memo + 1
        lists[id(frames)] = b"j" + struct.pack("<I", index)
        return b"]\x94(" + b"".join(map(self.frame, frames)) + b"e"


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
            writer.events(events, turn * length)
        file.write(b"au.")
    print(json.dumps({"events": len(events) * int(turns)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
