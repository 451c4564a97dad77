"""Hostile memory snapshots: nothing in them is run, each gives an answer or a sentence, and memory and time stay bounded.

hostile.py PROGRAM      with STEPSCOPE_SANITIZED set, more memory and time are allowed, and fewer places cut
"""

import concurrent.futures
import gzip
import io
import itertools
import json
import os
import pathlib
import pickle
import pickletools
import random
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLES = ROOT.parent / "shared" / "snapshots"
SANITIZED = bool(os.environ.get("STEPSCOPE_SANITIZED"))  # the program keeps freed memory, and is ten times slower
MOST_BYTES = (3000 if SANITIZED else 300) << 20
MOST_S = 80.0 if SANITIZED else 8.0  # of the processor, with checks on
CUTS = 50 if SANITIZED else 500
HUGE = 1 << 62

REFUSED = (
    "GLOBAL STACK_GLOBAL INST OBJ NEWOBJ NEWOBJ_EX REDUCE BUILD PERSID BINPERSID EXT1 EXT2 EXT4 NEXT_BUFFER READONLY_BUFFER "
    "BYTEARRAY8 EMPTY_SET ADDITEMS FROZENSET POP POP_MARK DUP INT LONG FLOAT STRING UNICODE GET PUT BINSTRING SHORT_BINSTRING").split()  # fmt: skip
CODES = {op.name: op.code.encode("latin-1") for op in pickletools.opcodes}


def u32(number):
    return struct.pack("<I", number)


def u64(number):
    return struct.pack("<Q", number)


def text(value):
    encoded = value.encode()
    return b"X" + u32(len(encoded)) + encoded


def integer(number):
    return b"\x8a\x08" + struct.pack("<q", number)


def pairs(items):
    return b"}(" + b"".join(text(key) + value for key, value in items.items()) + b"u"


def listed(items):
    return b"](" + b"".join(items) + b"e" if items else b"]"


FRAMES = listed([pairs({"name": text("step"), "filename": text("/srv/train.py"), "line": integer(7)})])
EVENT = {"action": text("alloc"), "addr": integer(4096), "size": integer(512), "stream": integer(0), "time_us": integer(5),
         "frames": FRAMES}  # fmt: skip
BLOCK = {"address": integer(4096), "size": integer(512), "requested_size": integer(500), "state": text("active_allocated"),
         "frames": FRAMES}  # fmt: skip
SEGMENT = {"device": integer(0), "address": integer(4096), "total_size": integer(512), "allocated_size": integer(512),
           "active_size": integer(512), "requested_size": integer(500), "stream": integer(0), "segment_type": text("large"),
           "segment_pool_id": b"K\0K\0\x86", "is_expandable": b"\x89", "frames": FRAMES, "blocks": listed([pairs(BLOCK)])}  # fmt: skip
MARK = {"stage": text("START"), "name": text("step"), "device": integer(0), "time_us": integer(5)}
SETTINGS = {"expandable_segments": b"\x88", "trace_alloc_overflowed": b"\x89", "trace_alloc_max_entries": integer(9)}


def whole(extra=b"", events=(), segments=(), marks=(), settings=b"", top=None):
    """A pickle of a snapshot with one sound segment and event, and with what is given."""
    keys = {"segments": listed([pairs(SEGMENT), *segments]), "device_traces": listed([listed([pairs(EVENT), *events])]),
            "allocator_settings": settings or pairs(SETTINGS), "external_annotations": listed([pairs(MARK), *marks])}  # fmt: skip
    keys.update(top or {})
    if extra:
        keys["extra"] = extra
    return b"\x80\x04" + pairs(keys) + b"."


class Run:
    """One run of the program: exit code, what it said, its memory in bytes and its processor seconds."""

    def __init__(self, program, path, question="memory_peak", *params):
        command = [program, "show", question, path, "--format", "json", *params]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = self.code = os.waitstatus_to_exitcode(status)
            self.bytes, self.seconds = used.ru_maxrss * 1024, used.ru_utime + used.ru_stime
            out.seek(0)
            err.seek(0)
            self.out = out.read().decode()
            self.err = err.read().decode()

    def faults(self, what):
        """Sentences about what no file may cause."""
        found = []
        if self.code not in (0, 1):
            found.append(f"{what}: exit code {self.code}: {self.err[-300:]}")
        if self.code == 1 and not re.fullmatch(r"stepscope: [^\n]{20,2000}\n", self.err):
            found.append(f"{what}: not one sentence: {self.err[:500]!r}")
        if self.bytes > MOST_BYTES:
            found.append(f"{what}: {self.bytes >> 20} MiB of memory")
        if self.seconds > MOST_S:
            found.append(f"{what}: {self.seconds:.1f} s of the processor")
        return found


class Tester:
    def __init__(self, program, folder):
        self.program, self.folder, self.numbers = program, pathlib.Path(folder), itertools.count(1)

    def file(self, content):
        path = self.folder / f"{next(self.numbers)}.pickle"
        path.write_bytes(content)
        return path

    def refused(self, what, content, *said):
        """The file is refused with a sentence that has all of `said`."""
        path = self.file(content)
        run = Run(self.program, path)
        path.unlink()
        faults = run.faults(what)
        if run.code != 1:
            faults.append(f"{what}: exit code {run.code}, not 1: {run.out[-300:]}")
        return faults + [f"{what}: no '{part}' in: {run.err[:500]}" for part in said if part not in run.err]

    def answered(self, what, content, said="", question="memory_peak", *params):
        """The file is answered, with `said` among the notes."""
        path = self.file(content)
        run = Run(self.program, path, question, *params)
        path.unlink()
        faults = run.faults(what)
        if run.code != 0:
            return faults + [f"{what}: exit code {run.code}, not 0: {run.err[:500]}"]
        return faults + ([f"{what}: no '{said}' in: {run.out[-500:]}"] if said not in run.out else [])


# Opcodes that would run code.


def refused_opcodes(tester):
    before = b"\x80\x04" + b"}(" + text("segments") + b"]" + text("extra") + b"](" + text("a") * 3
    for name in REFUSED:
        content = before + CODES[name] + b"posix\nsystem\n" + b"\0" * 20
        yield tester.refused, name, content, f"at byte {len(before)}: ", f"the opcode {name}", ": "
        yield tester.refused, f"{name} first", b"\x80\x04" + CODES[name] + b"posix\nsystem\n", "at byte 2: ", f"the opcode {name}"
    known = {op.code.encode("latin-1")[0] for op in pickletools.opcodes}
    for byte in sorted(set(range(256)) - known)[::8]:
        yield tester.refused, f"byte {byte}", before + bytes([byte]), f"at byte {len(before)}: ", f"the byte {byte:#04x} where an opcode belongs"


def payloads(marker):
    """Pickles that make the file `marker` when Python unpickles them."""
    argument = text(f"touch {marker}")
    return {
        "GLOBAL and REDUCE": b"cos\nsystem\n" + argument + b"\x85R",
        "STACK_GLOBAL and REDUCE": text("os") + text("system") + b"\x93" + argument + b"\x85R",
        "INST": b"(" + argument + b"ios\nsystem\n",
        "OBJ": b"(cos\nsystem\n" + argument + b"o",
        "a memo entry and REDUCE": b"cos\nsystem\n\x94h\0" + argument + b"\x85R",
    }


def check_payloads(tester):
    faults = []
    marker = tester.folder / "marker"
    for name, payload in payloads(marker).items():
        subprocess.run([sys.executable, "-c", "import pickle, sys; pickle.loads(sys.stdin.buffer.read())"], input=b"\x80\x04" + payload + b".", check=True)
        if not marker.exists():
            faults.append(f"{name}: Python runs nothing, so this tests nothing")
        marker.unlink(missing_ok=True)
        for form in (b"\x80\x04" + payload + b".", whole(extra=payload), whole(top={"segments": payload}),
                     whole(events=[pairs({**EVENT, "frames": payload})])):  # fmt: skip
            faults += tester.refused(name, form, "nothing of the file was run")
            if marker.exists():
                faults.append(f"{name}: was run")
                marker.unlink()
    return faults


# Depth, lengths, memo, graphs.


def laughs(opcode):
    """Each list holds the one before ten times: 10^60 leaves."""
    out = b"(]\x94"
    for i in range(60):
        out += b"]\x94(" + opcode(i) * 10 + b"e"
    return out + b"l"


def bombs(tester):
    deep = 1_000_000
    yield tester.answered, "lists in lists", whole(b"]" * deep + b"a" * (deep - 1))
    yield tester.answered, "lists in lists, as segments", whole(top={"segments": b"]" * deep + b"a" * (deep - 1)})
    yield tester.answered, "lists in a frame list", whole(events=[pairs({**EVENT, "frames": b"]" * deep + b"a" * (deep - 1)})])
    yield tester.answered, "tuples in tuples", whole(b")" + b"\x85" * deep)
    yield tester.answered, "dicts in dicts", whole(b"N" + b"".join(b"}" + text("a") for _ in range(1000)) + b"N" + b"s" * 1000 + b"\x86")
    yield tester.refused, "marks in marks", whole(b"(" * deep), "nested more than 1,000 levels deep", "MARK"
    yield tester.refused, "JSON in JSON", b'{"segments": ' + b"[" * deep, "nested more than 1,000 levels deep"
    yield tester.answered, "laughs by BINGET", whole(laughs(lambda i: b"h" + bytes([i])))
    yield tester.answered, "laughs by LONG_BINGET", whole(laughs(lambda i: b"j" + u32(i)))
    yield tester.answered, "laughs as segments", whole(top={"segments": laughs(lambda i: b"h" + bytes([i]))})
    yield tester.answered, "laughs as events", whole(top={"device_traces": laughs(lambda i: b"h" + bytes([i]))})
    yield tester.answered, "laughs as frames", whole(events=[pairs({**EVENT, "frames": laughs(lambda i: b"h" + bytes([i]))})])
    for key in ("segments", "device_traces", "allocator_settings", "external_annotations", "extra"):
        yield tester.answered, f"{key} is a list that holds itself", whole(top={key: b"]\x94h\0a"}), "", "memory_summary"
    for key in ("frames", "addr", "pool_id", "user_metadata", "new"):
        yield tester.answered, f"{key} of an event is a list that holds itself", whole(events=[pairs({**EVENT, key: b"]\x94h\0a"})])
    yield tester.answered, "an event that holds itself", whole(events=[b"}\x94(" + text("action") + text("alloc") + text("new") + b"h\0" + text("size") + b"K\1u"])
    for opcode in (b"h\7", b"j" + u32(7), b"j" + u32(2**32 - 1)):
        yield tester.refused, f"memo {opcode}", whole(opcode), "asks for a memo entry that was not made before"
    yield tester.refused, "a memo index far away", whole(b"Nr" + u32(2**32 - 1)), "far beyond the end of the memo"
    yield tester.refused, "no value at all", b"\x80\x04."
    yield tester.refused, "a protocol of some future", b"\x80\x09" + whole()[2:], "protocol 9"


def claims(tester):
    """Lengths that the file does not have: it ends early, and keeps what it had."""
    ends = "ends early"
    for name, claim in {"BINUNICODE8": b"\x8d" + u64(HUGE), "BINUNICODE8 below 0": b"\x8d" + u64(2**64 - 1), "BINBYTES8": b"\x8e" + u64(HUGE),
                        "BINBYTES8 below 0": b"\x8e" + u64(2**64 - 1), "BINUNICODE": b"X" + u32(2**32 - 1), "BINBYTES": b"B" + u32(2**32 - 1),
                        "LONG4": b"\x8b" + u32(2**31 - 1), "LONG4 below 0": b"\x8b" + u32(2**32 - 1), "LONG1": b"\x8a\xff",
                        "SHORT_BINUNICODE": b"\x8c\xff", "SHORT_BINBYTES": b"C\xff"}.items():  # fmt: skip
        yield tester.answered, name, whole(claim)[:-2], ends
        yield tester.refused, f"{name} first", b"\x80\x04" + claim + b"abc"
    for size in (HUGE, 2**64 - 1, 0):
        yield tester.answered, f"FRAME of {size}", b"\x80\x04\x95" + u64(size) + whole()[2:]
    yield tester.answered, "LONG4 of a million bytes", whole(b"\x8b" + u32(10**6) + b"\xff" * 10**6)
    yield tester.answered, "LONG4 as an address", whole(events=[pairs({**EVENT, "addr": b"\x8b" + u32(10**6) + b"\xff" * 10**6})])
    for name in ("BYTEARRAY8", "BINSTRING"):
        yield tester.refused, f"{name} of 2^62", whole(CODES[name] + u64(HUGE)), f"the opcode {name}"
    yield tester.refused, "a name without end", whole(b"c" + b"a" * 10**6), "GLOBAL"
    yield tester.answered, "a text of 64 MB", whole(text("a" * (64 << 20)))
    yield tester.answered, "a JSON number without end", b'{"segments": [], "extra": ' + b"1" * 10**6


def amplified(tester):
    """Short files that would become large or slow: the memo's 0 is a long text, its 1 a long list, its 2 one of many keys."""
    sound = text("segments") + listed([pairs(SEGMENT)])
    memo = (text("long") + text("k" * 60_000) + b"\x94" + text("list") + listed([b"K\1"] * 5_000) + b"\x94" +
            text("wide") + b"}(" + b"".join(b"M" + struct.pack("<H", i) + b"N" for i in range(60_000)) + b"u\x94")  # fmt: skip

    def of(extra):
        return b"\x80\x04}(" + memo + sound + extra + b"u."

    def trace(events):
        return text("device_traces") + listed([listed(events)])

    frame = b"}(" + text("name") + b"h\0" + text("filename") + b"h\0" + text("line")
    yield tester.answered, "long names of many frames", of(trace([pairs({**EVENT, "addr": integer(i), "frames": listed([frame + integer(i) + b"u"])}) for i in range(20_000)]))
    yield tester.answered, "long texts in many frames", of(text("extra") + listed([frame + integer(i) + text("new") + b"h\0u" for i in range(20_000)]))
    frames = listed([frame + integer(1) + b"u\x94"])[:-1] + b"h\3" * 20_000 + b"e"
    for by in ("function", "stack"):
        yield tester.answered, f"a stack of many long names by {by}", of(trace([pairs({**EVENT, "frames": frames})])), "", "memory_peak", "--by", by
    keys = b"}(" + b"h\0h\1" * 50_000 + b"u"
    for key in ("allocator_settings", "extra"):
        yield tester.answered, f"{key} of many long values", of(text(key) + keys), "", "memory_summary"
    yield tester.answered, "many keys of long values", of(b"h\0h\1" * 50_000), "beyond the first 1,000"
    for pair in (b"h\0h\1", b"h\1h\0"):
        event = b"}(" + text("action") + text("alloc") + pair * 50 + b"u"
        yield tester.answered, f"events of long keys and values {pair}", of(trace([event] * 2_000))
    yield tester.answered, "a dict of many keys many times", of(text("extra") + listed([b"h\2"] * 200_000))
    block = pairs({"size": integer(5), "state": text("inactive"), "history": listed([b"h\2"])})
    yield tester.answered, "a history of many keys many times", of(text("segments") + listed([pairs({**SEGMENT, "blocks": listed([block] * 20_000)})]))
    shared = text("trace") + listed([pairs(EVENT)] * 20_000) + b"\x94"
    yield tester.answered, "one trace on many devices", of(shared + text("device_traces") + listed([listed([pairs(EVENT)]), *[b"h\3"] * 60_000]))
    yield tester.answered, "many devices", whole(top={"device_traces": listed([listed([pairs(EVENT)])] * 5_000)}), "impossible device"
    yield tester.answered, "segments of many devices", whole(segments=[pairs({**SEGMENT, "device": integer(i * i)}) for i in range(5_000)])
    yield tester.answered, "addresses that are all alike", whole(events=[pairs(EVENT)] * 20_000)


def packed(tester):
    """gzip: a member of zeros again and again."""
    zeros = gzip.compress(b"\0" * (16 << 20), 9) * 256  # 4 GiB in 4 MiB
    nones = gzip.compress(b"N" * (16 << 20), 9) * 64
    lists = gzip.compress(b"]" * (16 << 20), 9) * 64
    start = whole()[:-2]
    yield tester.refused, "4 GiB of zeros in a text", gzip.compress(start + text("extra") + b"\x8d" + u64(HUGE)) + zeros, "expands to more than 100 times"
    yield tester.refused, "4 GiB of zeros in JSON", gzip.compress(b'{"segments": [') + gzip.compress(b" " * (16 << 20), 9) * 256, "expands to more than 100 times"
    yield tester.answered, "4 GiB of zeros behind the end", gzip.compress(whole()) + zeros, "Zeros without end"
    yield tester.refused, "1 GiB of NONE", gzip.compress(start + text("extra") + b"](") + nones, "takes more memory"
    yield tester.refused, "1 GiB of EMPTY_LIST", gzip.compress(start + text("extra") + b"](") + lists, "takes more memory"
    yield tester.refused, "1 GiB of MEMOIZE", gzip.compress(start + text("extra") + b"N") + gzip.compress(b"\x94" * (16 << 20), 9) * 64, "takes more memory"


# Values of the wrong type.


def wrong_values():
    return {
        "None": b"N", "true": b"\x88", "-1": integer(-1), "2^63": b"\x8a\x09" + u64(2**63) + b"\0", "-2^63": integer(-(2**63)),
        "2^100": b"\x8a\x0e" + b"\xff" * 13 + b"\x7f", "1.5": b"G" + struct.pack(">d", 1.5), "nan": b"G" + struct.pack(">d", float("nan")),
        "text": text("seven"), "no text": text(""), "bytes": b"C\3abc", "list": b"]", "list of list": b"](]e", "list of one": b"](K\1e", "dict": b"}",
        "dict of one": pairs({"a": b"N"}), "dict of size": pairs({"size": b"N", "state": b"N", "action": b"N"}), "tuple": b")", "tuple of three": b"K\1K\2K\3\x87",
        "tuple of texts": text("a") + text("b") + b"\x86", "event": pairs(EVENT), "block": pairs(BLOCK), "frames": FRAMES}  # fmt: skip


def wrong_types(tester):
    values = wrong_values()
    rows = {"events": EVENT, "segments": SEGMENT, "marks": MARK}
    for argument, row in rows.items():
        for key in (*row, "device_free", "pool_id", "user_metadata", "compile_context", "new"):
            wrong = [pairs({**row, key: value}) for value in values.values()]
            yield tester.answered, f"{key} of {argument}", whole(**{argument: wrong})
    for key in (*BLOCK, "history"):
        wrong = [pairs({**SEGMENT, "blocks": listed([pairs({**BLOCK, key: value})])}) for value in values.values()]
        yield tester.answered, f"{key} of blocks", whole(segments=wrong)
    for key in ("name", "filename", "line", "new"):
        frame = {"name": text("f"), "filename": text("a.py"), "line": integer(1)}
        wrong = [pairs({**EVENT, "frames": listed([pairs({**frame, key: value})])}) for value in values.values()]
        yield tester.answered, f"{key} of frames", whole(events=wrong)
    yield tester.answered, "frames", whole(events=[pairs({**EVENT, "frames": listed([value])}) for value in values.values()])
    for key in SETTINGS:
        for name, value in values.items():
            yield tester.answered, f"{key} is {name}", whole(settings=pairs({**SETTINGS, key: value}))
    for key in ("segments", "device_traces", "allocator_settings", "external_annotations"):
        for name, value in values.items():
            yield tester.answered, f"{key} is {name}", whole(top={key: value}), "", "memory_summary"
            yield tester.answered, f"{key} has {name}", whole(top={key: listed([value, listed([value])])}), "", "memory_summary"
    for name, value in values.items():
        key_of_that = b"}(" + value + b"N" + text("action") + text("alloc") + text("size") + b"K\1u"
        yield tester.answered, f"a key is {name}", whole(events=[key_of_that])
    for name in ("None", "list", "dict", "2^100", "text", "bytes", "tuple"):
        yield tester.refused, f"the file is {name}", b"\x80\x04" + values[name] + b".", "is no memory snapshot"


# Cuts.


class Held(pickle._Unpickler):  # Python's own, which keeps what was made before the end
    def find_class(self, module, name):
        raise pickle.UnpicklingError("no snapshot")


def held(content):
    """Events and segments that are complete in a pickle that was cut off."""
    reader = Held(io.BytesIO(content))
    try:
        reader.load()
    except (EOFError, pickle.UnpicklingError, ValueError, struct.error, UnicodeDecodeError, IndexError):
        pass
    dicts = [value for value in reader.memo.values() if isinstance(value, dict)]
    return sum("action" in of for of in dicts), sum("blocks" in of for of in dicts)


def check_cut(tester, sample, content, size):
    cut = content[:size]
    events, segments = held(cut)
    what = f"{sample.name} cut at byte {size}"
    path = tester.folder / f"cut{size}.pickle"
    path.write_bytes(cut)
    run = Run(tester.program, path, "memory_summary")
    path.unlink()
    faults = run.faults(what)
    if run.code == 1:
        if events + segments > 0:
            faults.append(f"{what}: held {events} events and {segments} segments, but: {run.err}")
        return faults
    answer = json.loads(run.out)
    table = answer["tables"][0]
    names = [column["name"] for column in table["columns"]]
    found = [sum(row[names.index(key)] for row in table["rows"]) for key in ("events", "segments")]
    if found != [events, segments]:
        faults.append(f"{what}: answers from {found[0]} events and {found[1]} segments of {events} and {segments}")
    if not any("ends early, at byte" in note for note in answer["notes"]):
        faults.append(f"{what}: does not say that it ends early: {answer['notes']}")
    return faults


def cuts(tester):
    sample = SAMPLES / "silmont_mem_snapshot.pickle"
    if not sample.exists():
        sample = ROOT / "test" / "corpus" / "snapshot_fuzz" / "protocol4.pickle"
    content = sample.read_bytes()
    places = random.Random(7).sample(range(2, len(content)), min(CUTS, len(content) - 2))
    for size in places:
        yield check_cut, tester, sample, content, size


def main(program):
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tester = Tester(program, folder)
        faults = check_payloads(tester)
        for part in (refused_opcodes(tester), bombs(tester), claims(tester), amplified(tester), packed(tester), wrong_types(tester)):
            for found in pool.map(lambda of: of[0](*of[1:]), part):
                faults += found
        for found in pool.map(lambda of: of[0](*of[1:]), cuts(tester)):
            faults += found
    print("\n".join(faults) or f"{next(tester.numbers) - 1} hostile files and {CUTS} cuts: nothing was run, all were answered or refused with a sentence")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
