"""Hand-made recordings for tests: a tick is 1 ns; times count from the begin of the recording."""

import struct

HEADER, UNIT, BEGIN = 4096, 1 << 16, 1000
TEXT, SIGNATURE, OP, MEMORY = 1, 2, 3, 4
SESSION, KERNEL, API_CALL = 32, 36, 39
SHAPES, MEMORY_FLAG, STACKS, FLOPS = 1, 2, 4, 8
USER, BACKWARD, PYTHON = 7, 1, 100


def tensor(*sizes):
    """An input of that shape, float32, without strides."""
    return struct.pack("<BBBB", 1, 6, len(sizes), 0) + struct.pack(f"<{len(sizes)}q", *sizes)


class MadeThread:
    def __init__(self, kernel_id, torch_id):
        self.kernel_id, self.torch_id = kernel_id, torch_id
        self.records, self.texts = b"", 0

    def text(self, value, kind=TEXT):
        value = value if isinstance(value, bytes) else value.encode()
        self.texts += 1
        size = (12 + len(value) + 1 + 7) & ~7
        self.records += (struct.pack("<HHII", kind, size // 8, self.texts, len(value)) + value).ljust(size, b"\0")
        return self.texts

    def op(self, name, begin, end, scope=0, sequence=-1, forward=0, inputs=b"", flags=0):
        name = self.text(name)
        signature = self.text(inputs, SIGNATURE) if inputs else 0
        flags |= sequence >= 0
        record = struct.pack("<HHIQQIBBH", OP, 6 if sequence >= 0 else 4, name, BEGIN + begin, BEGIN + end, signature, scope, flags, 0)
        self.records += record + (struct.pack("<qQ", sequence, forward) if sequence >= 0 else b"")
        return self

    def memory(self, at, size, address=0, device_type=0):
        self.records += struct.pack("<HHIQQq", MEMORY, 4, device_type, BEGIN + at, address, size)
        return self

    def kernel(self, name, begin, end, correlation, stream=7, device=0):
        work = struct.pack("<qqIIIIQII", BEGIN + begin, BEGIN + end, device, 1, stream, correlation, 0, 0, 0)
        name = self.text(name)
        self.records += struct.pack("<HHI", KERNEL, 13, name) + work + struct.pack("<6IIIIIq", 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0)
        return self

    def call(self, name, begin, end, thread, correlation):
        name = self.text(name)
        self.records += struct.pack("<HHIqqIIIIII", API_CALL, 6, name, BEGIN + begin, BEGIN + end, thread, correlation, 0, 0, 0, 0)
        return self


def write(path, threads, flags=0, length=10**9, dropped=0):
    """Writes a recording of those threads, one segment each."""
    pair = struct.Struct("<Qqq")
    head = b"STEPREC\n" + struct.pack("<IIIIIIII", 2, HEADER, UNIT, len(threads), len(threads), 7, 0, flags) + struct.pack("<Q", dropped)
    head += pair.pack(0, 0, 0) + pair.pack(BEGIN, BEGIN, 1_700_000_000_000_000_000 + BEGIN)
    head += pair.pack(BEGIN + length, BEGIN + length, 1_700_000_000_000_000_000 + BEGIN + length)
    body = b""
    for thread in threads:
        segment = struct.pack("<IIIIQ16s", 40 + len(thread.records), UNIT, thread.kernel_id, 0, thread.torch_id, b"python") + thread.records
        body += segment.ljust(UNIT, b"\0")
    path.write_bytes(head.ljust(HEADER, b"\0") + body)
    return path
