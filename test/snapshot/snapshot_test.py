"""Memory snapshots against the truth: generated ones against their generator, real ones against Python's pickle.

snapshot_test.py PROGRAM      exits with 77 when ../shared is absent

Python unpickles only files that this test made, and the samples of ../shared.
"""

import collections
import concurrent.futures
import gzip
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"
MAKE = SHARED / "tools" / "make_snapshot.py"
ABSENT = 77
VERSIONS = ("1.13", "2.0", "2.1", "2.2", "2.3", "2.5", "2.7", "2.10", "2.13")
OPTIONS = (
    [], ["--expandable"], ["--private-pool"], ["--oom"], ["--overflow", "0.6"], ["--devices", "2"], ["--metadata"],
    ["--stacks", "none"], ["--stacks", "python"], ["--expandable", "--oom", "--overflow", "0.2"],
    ["--private-pool", "--oom", "--delay", "0.1"])  # fmt: skip
# What 1.13 cannot know, as it has no events.
OF_EVENTS = ("events", "start_requested", "peak_requested", "peak_event", "peak_reserved", "alloc_retries", "ooms", "oom_request")
# A column's key in the generator's truth, where it is another. The truth counts stacks that no kept event has.
TRUTH = {"events": "events_kept", "distinct_stacks": None, "device": None}


def combinations():
    """40 lists of options: each version with each protocol and the C++ writer in turn, and with other options each time."""
    number = 0
    for version in VERSIONS:
        for protocol in ("2", "3", "4", "5"):
            writer = ["--writer", "cpp"] if number % 4 == 3 else ["--protocol", protocol]
            yield ["--version", version, *writer, *OPTIONS[number % len(OPTIONS)], "--seed", str(number)]
            number += 1
    for options in (["--oom", "--expandable"], ["--private-pool", "--overflow", "0.6"], ["--devices", "2", "--oom"], ["--delay", "0.2"]):
        yield ["--version", "2.13", "--writer", "cpp", *options, "--seed", str(number)]
        number += 1


def summary(program, path):
    """The rows of memory_summary as dicts, and its notes."""
    out = subprocess.run([program, "show", "memory_summary", path, "--format", "json"], check=True, stdout=subprocess.PIPE, timeout=120).stdout
    answer = json.loads(out)
    table = answer["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]], answer["notes"]


def requested(block):
    if "requested_size" in block:
        return block["requested_size"]
    history = block.get("history")
    return history[0]["real_size"] if history else block["size"]


def stack(frames):
    return tuple((f["name"], f["filename"], f["line"]) for f in frames or [])


def facts(snapshot):
    """memory_summary by the formulas of docs/analyses.md, from Python's objects."""
    if isinstance(snapshot, list):
        snapshot = {"segments": snapshot, "device_traces": []}
    devices = {s["device"] for s in snapshot["segments"]} | {i for i, t in enumerate(snapshot["device_traces"]) if t}
    return [device_facts(snapshot, device) for device in sorted(devices)]


def device_facts(snapshot, device):
    events = snapshot["device_traces"][device] if device < len(snapshot["device_traces"]) else []
    segments = [s for s in snapshot["segments"] if s["device"] == device]
    open_, start, stacks = {}, 0, {stack(e.get("frames")) for e in events}
    for event in events:
        if event["action"] == "alloc":
            open_[event["addr"]] = event["size"]
        elif event["action"] == "free_completed" and open_.pop(event["addr"], None) is None:
            start += event["size"]
    sizes = collections.defaultdict(list)
    for segment in segments:
        stacks.add(stack(segment.get("frames")))
        address = segment["address"]
        for block in segment["blocks"]:
            sizes[block["state"]].append(block["size"])
            history = block.get("history") or [{}]
            stacks.add(stack(block.get("frames") or history[0].get("frames")))
            if block["state"] != "inactive" and block.get("address", address) not in open_:
                start += requested(block)
            address += block["size"]
    now, levels = start, [start]
    for event in events:
        now += event["size"] if event["action"] == "alloc" else -event["size"] if event["action"] == "free_completed" else 0
        levels.append(now)
    end_reserved = sum(s["total_size"] for s in segments)
    sign = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
    reserved, later = [], end_reserved
    for event in reversed(events):
        reserved.append(later)
        later -= sign.get(event["action"], 0) * event["size"]
    ooms = [e["size"] for e in events if e["action"] == "oom"]
    active, free = sum(sizes["active_allocated"]), sizes["inactive"]
    return {
        "device": device, "events": len(events), "start_requested": start, "end_requested": now,
        "peak_requested": max(levels), "peak_event": levels.index(max(levels)) - 1, "peak_reserved": max(reserved, default=end_reserved),
        "end_reserved": end_reserved, "end_allocated": active, "end_active": active + sum(sizes["active_pending_free"]),
        "largest_free_block": max(free, default=0), "free_cached": sum(free), "segments": len(segments),
        "blocks": sum(len(s["blocks"]) for s in segments), "ooms": len(ooms), "oom_request": ooms[-1] if ooms else 0,
        "distinct_stacks": len(stacks - {()})}  # fmt: skip


def compare(what, found, expected):
    """Sentences about keys that differ."""
    return [f"{what}: {key} is {found.get(key)}, not {value}" for key, value in expected.items() if found.get(key) != value]


def compare_file(program, path, what):
    with open(path, "rb") as file:
        expected = facts(pickle.load(file))
    rows, _ = summary(program, path)
    if len(rows) != len(expected):
        return [f"{what}: {len(rows)} devices, not {len(expected)}"]
    return [fault for row, of in zip(rows, expected) for fault in compare(what, row, of)]


def check_generated(program, folder, number, options):
    path, truth_path = f"{folder}/{number}.pickle", f"{folder}/{number}.json"
    subprocess.run([sys.executable, MAKE, "-n", "3000", "-o", path, "--truth", truth_path, *options], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)  # fmt: skip
    with open(truth_path, encoding="utf-8") as file:
        truth = json.load(file)
    what = " ".join(options)
    rows, notes = summary(program, path)
    columns = [c for c in rows[0] if TRUTH.get(c, c) and not ("1.13" in options and c in OF_EVENTS)]
    faults = compare(what, rows[0], {c: truth[TRUTH.get(c, c)] for c in columns})
    faults += [f"{what}: says '{note}'" for note in notes if "in use in the segments" in note]
    return faults + compare_file(program, path, what)


def check_forms(program, folder):
    """JSON and gzip of a file answer as the file."""
    path = f"{folder}/0.pickle"
    with open(path, "rb") as file:
        content = file.read()
    with gzip.open(f"{folder}/form.pickle.gz", "wb") as file:
        file.write(content)
    with open(f"{folder}/form.pickle", "wb") as file:
        file.write(content + b"\0" * 3)
    with open(f"{folder}/of.json", "w", encoding="utf-8") as file:
        json.dump(pickle.loads(content), file)
    expected = summary(program, path)
    return [f"{form} answers otherwise than the pickle: {summary(program, f'{folder}/{form}')}"
            for form in ("form.pickle.gz", "form.pickle", "of.json") if summary(program, f"{folder}/{form}") != expected]  # fmt: skip


def check_cuts(program, folder):
    """A file that was cut off anywhere is answered or refused with a sentence."""
    with open(f"{folder}/20.pickle", "rb") as file:
        content = file.read()
    faults = []
    for i in range(1, 20):
        with open(f"{folder}/cut.pickle", "wb") as file:
            file.write(content[: len(content) * i // 20])
        done = subprocess.run([program, "show", "memory_summary", f"{folder}/cut.pickle"], capture_output=True, text=True, timeout=60)
        said = done.stdout + done.stderr
        if done.returncode < 0 or not ("ends early" in said or "ends before its first" in said):
            faults.append(f"cut at {i}/20: exit code {done.returncode}, {done.stdout[-300:]}{done.stderr[-300:]}")
    return faults


def main(program):
    if not MAKE.exists():
        print(f"skipped: {MAKE} is absent")
        return ABSENT
    faults = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(combinations())
        assert len(made) == 40
        for found in pool.map(lambda of: check_generated(program, folder, *of), enumerate(made)):
            faults += found
        faults += check_forms(program, folder) + check_cuts(program, folder)
    for sample in sorted((SHARED / "snapshots").glob("*.pickle")):
        faults += compare_file(program, str(sample), sample.name)
    print("\n".join(faults) or "all snapshots answer as their generator and Python say")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
