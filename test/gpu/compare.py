"""Prints in Markdown whether two sets of traces agree about a GPU: compare.py TORCH.json… -- STEPSCOPE.json…

Kernels, copies and fills, their counts, and the tables' rows with device time must be equal; device times (medians of each set) within
1 %. Those of copies and fills may also lie within the range of torch.profiler's own runs: copies from pageable memory take as long as the host makes them. stepscope may
not have more work without a launch, or more kernels without an op. Exits 1 if any of this fails.

Rows of CUDA calls are left out of the tables: torch.profiler gives a call outside of ops the kernels of the op whose number is, by chance,
the call's. Both count from 1.
"""

import json
import re
import statistics
import sys
from collections import Counter

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
TOLERANCE = 0.01


def read(path):
    with open(path, encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
    with open(path + ".averages", encoding="utf-8") as file:
        averages = [a for a in json.load(file) if not re.match(r"cu(da)?[A-Z]", a["name"])]
    with open(path + ".cost", encoding="utf-8") as file:
        cost = json.load(file)
    work = [e for e in events if e.get("cat") in DEVICE]
    calls = {e["args"]["correlation"] for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    return {
        "counts": Counter((e["cat"], e["name"]) for e in work),
        "time": Counter({cat: sum(e["dur"] for e in work if e["cat"] == cat) for cat in DEVICE}),
        "averages": Counter({(a["name"], a["on_device"]): a["count"] for a in averages}),
        "op time": {a["name"]: a["us"] for a in averages if not a["on_device"]},
        "unlinked": sum(e["args"]["correlation"] not in calls for e in work),
        "without op": sum("External id" not in e["args"] for e in work if e["cat"] == "kernel"),
        "cost": cost,
    }


def of_time(what, theirs, ours, varies=False):
    """A row that compares the medians of two lists of µs; `varies`: from run to run, under one profiler."""
    medians = statistics.median(theirs), statistics.median(ours)
    close = abs(medians[1] - medians[0]) <= TOLERANCE * max(medians) or (varies and min(theirs) <= medians[1] <= max(theirs))
    cells = (f"{middle:.3f} ({min(times):.3f} to {max(times):.3f})" for middle, times in zip(medians, (theirs, ours)))
    return f"{what} (µs, median and range)", *cells, close


def rows(theirs, ours):
    counts = theirs[0]["counts"], ours[0]["counts"]
    names = counts[0].keys() | counts[1].keys()
    differing = sorted(name for name in names if counts[0][name] != counts[1][name])
    yield "names of kernels, copies and fills", len(counts[0]), len(counts[1]), counts[0].keys() == counts[1].keys()
    yield "how many ran", counts[0].total(), counts[1].total(), not differing
    for category in DEVICE:
        times = ([trace["time"][category] for trace in traces] for traces in (theirs, ours))
        yield of_time(f"time of {category}", *times, varies=category != "kernel")
    tables = theirs[0]["averages"], ours[0]["averages"]
    yield "rows of the table with time of their own on the device", len(tables[0]), len(tables[1]), tables[0] == tables[1]
    yield of_time("device time of ops in the table", *([sum(trace["op time"].values()) for trace in traces] for traces in (theirs, ours)))
    yield "without their launch", theirs[0]["unlinked"], ours[0]["unlinked"], ours[0]["unlinked"] <= theirs[0]["unlinked"]
    yield "kernels without an op", theirs[0]["without op"], ours[0]["without op"], ours[0]["without op"] <= theirs[0]["without op"]
    for category, name in differing[:20]:
        yield f"`{name[:80]}` ({category})", counts[0][category, name], counts[1][category, name], False


def costs(traces):
    """Medians of what recording took."""
    ms = {what: statistics.median(trace["cost"][what] for trace in traces) * 1e3 for what in traces[0]["cost"]}
    yield "step, not recorded, ms", f"{ms['step']:.3f}"
    yield "step, recorded, ms", f"{ms['recorded step']:.3f}"
    yield "added to each launch, µs", f"{(ms['recorded launch'] - ms['launch']) * 1e3:.2f}"
    yield "first start(), ms", f"{ms['first start']:.1f}"
    yield "stop() and export, ms", f"{ms['stop and export']:.1f}"


def main(arguments):
    split = arguments.index("--")
    theirs, ours = ([read(path) for path in paths] for paths in (arguments[:split], arguments[split + 1 :]))
    print("| what | torch.profiler | stepscope | agrees |\n| --- | ---: | ---: | --- |")
    agree = True
    for what, left, right, same in rows(theirs, ours):
        print(f"| {what} | {left} | {right} | {'yes' if same else '**no**'} |")
        agree &= same
    print("\n| cost, medians | torch.profiler | stepscope |\n| --- | ---: | ---: |")
    for (what, left), (_, right) in zip(costs(theirs), costs(ours)):
        print(f"| {what} | {left} | {right} |")
    return 0 if agree else 1


sys.exit(main(sys.argv[1:]))
