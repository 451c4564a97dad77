"""The forms of a memory snapshot: what `export` writes as a pickle against its source, and pages, zstd and CSV against the pickle.

forms_test.py PROGRAM      exits with 77 when ../shared is absent

Python unpickles only files that this test, the generator or stepscope made.
"""

import base64
import concurrent.futures
import csv
import json
import os
import pickle
import pickletools
import shutil
import subprocess
import sys
import tempfile

from snapshot_test import ABSENT, MAKE, SHARED, combinations, summary

# The opcodes that MemoryViz.js of PyTorch 2.0 to 2.13 decodes; it refuses protocol 5.
DECODED = set(
    "PROTO FRAME MARK STOP EMPTY_DICT EMPTY_LIST EMPTY_TUPLE SETITEM SETITEMS APPEND APPENDS LIST DICT TUPLE TUPLE1 TUPLE2 TUPLE3 "
    "NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 BINFLOAT SHORT_BINUNICODE BINUNICODE MEMOIZE BINPUT LONG_BINPUT BINGET "
    "LONG_BINGET".split()
)
OF_EVENT = ("action", "addr", "device_free", "size", "stream", "time_us")
OF_SEGMENT = ("device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream", "segment_type", "is_expandable")
OF_BLOCK = ("size", "requested_size", "state")
PAGE = """
<!DOCTYPE html>
<html><body><script type="module">
import {add_local_files} from "https://example.org/MemoryViz.js"
const local_files = %s
add_local_files(local_files, 'Active Memory Timeline')
</script></body></html>
"""


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, check=True, timeout=120).stdout


def frames_of(of):
    return [(f["name"], f["filename"], f["line"]) for f in of.get("frames") or []]


def differences(what, keys, here, there):
    """Sentences: `there` lacks or changes a key that `here` has."""
    return [f"{what}: {key} is {there.get(key)}, not {here[key]}" for key in keys if key in here and here[key] != there.get(key)]


def compare(what, source, written):
    faults = []
    if isinstance(source, list):
        source = {"segments": source, "device_traces": []}
    if len(source["segments"]) != len(written["segments"]):
        return [f"{what}: {len(written['segments'])} segments, not {len(source['segments'])}"]
    order = sorted(source["segments"], key=lambda s: (s["device"], s["address"]))
    for here, there in zip(order, written["segments"]):
        faults += differences(what, OF_SEGMENT, here, there)
        for block, of in zip(here["blocks"], there["blocks"]):
            faults += differences(what, OF_BLOCK, block, of)
            if "frames" in block and frames_of(block) != frames_of(of):
                faults.append(f"{what}: frames of a block differ")
    for here, there in zip(source["device_traces"], written["device_traces"]):
        if len(here) != len(there):
            faults.append(f"{what}: {len(there)} events, not {len(here)}")
        for event, of in zip(here, there):
            faults += differences(what, OF_EVENT, event, of)
            if frames_of(event) != frames_of(of):
                faults.append(f"{what}: frames of an event differ")
    for key in ("allocator_settings", "external_annotations"):
        if source.get(key) and source[key] != written.get(key):
            faults.append(f"{what}: {key} differ")
    return faults[:5]


def check_export(program, source, path):
    run(program, "export", source, "-o", path)
    with open(path, "rb") as file:
        content = file.read()
    with open(source, "rb") as file:
        faults = compare(source, pickle.load(file), pickle.loads(content))
    foreign = {op.name for op, _, _ in pickletools.genops(content)} - DECODED
    if foreign:
        faults.append(f"{source}: the pickle has {sorted(foreign)}")
    for analysis in ("memory_summary", "memory_peak", "memory_state"):
        here, there = (json.loads(run(program, "show", analysis, of, "--format", "json"))["tables"] for of in (source, path))
        if here != there:
            faults.append(f"{source}: {analysis} differs after export")
    return faults


def check_window(program, source, path):
    """The levels at the end of a window are those of the whole file at that instant."""
    run(program, "export", source, "--since", "1000", "--until", "1500", "-o", path)
    (row,), _ = summary(program, path)
    whole = list(csv.DictReader(run(program, "export", source, "--what", "allocator_event", "--format", "csv").decode().splitlines()))
    at = whole[1500]
    found = (row["events"], row["start_requested"], row["end_requested"], row["end_reserved"])
    expected = (500, int(whole[1000]["requested_bytes"]), int(at["requested_bytes"]), int(at["reserved_bytes"]))
    with open(path, "rb") as file:
        kept = pickle.load(file)["device_traces"][0]
    actions = [e["action"] for e in kept] == [e["action"] for e in whole[1001:1501]]
    return [] if found == expected and actions else [f"window: {found}, not {expected}; same actions: {actions}"]


def check_forms(program, folder, source):
    """A page of memory_viz and a zstd file answer as the pickle in them."""
    with open(source, "rb") as file:
        content = file.read()
    expected = summary(program, source)
    padded = content + b"\0" * (3 - len(content) % 3)
    page = PAGE % json.dumps([{"name": "snapshot.pickle", "base64": base64.b64encode(padded).decode()}])
    with open(f"{folder}/page.html", "w", encoding="utf-8") as file:
        file.write(page)
    forms = ["page.html"]
    if shutil.which("zstd"):
        subprocess.run(["zstd", "-q", "-19", source, "-o", f"{folder}/packed.pickle.zst"], check=True, timeout=120)
        forms.append("packed.pickle.zst")
    return [f"{form} answers otherwise than the pickle" for form in forms if summary(program, f"{folder}/{form}") != expected]


def main(program):
    if not MAKE.exists():
        print(f"skipped: {MAKE} is absent")
        return ABSENT
    faults = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:

        def check(number, options):
            path = f"{folder}/{number}.pickle"
            subprocess.run([sys.executable, MAKE, "-n", "2000", "-o", path, *options], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=120)  # fmt: skip
            return check_export(program, path, f"{folder}/{number}.out.pickle")

        for found in pool.map(lambda of: check(*of), enumerate(combinations())):
            faults += found
        for sample in sorted((SHARED / "snapshots").glob("*.pickle")):
            faults += check_export(program, str(sample), f"{folder}/sample.out.pickle")
        whole = f"{folder}/24.pickle"
        faults += check_window(program, whole, f"{folder}/window.pickle") + check_forms(program, folder, whole)
    print("\n".join(faults) or "all forms of a snapshot answer alike")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
