"""Prints in Markdown whether two sets of traces agree about a GPU: compare.py TORCH.json… -- STEPSCOPE.json…

Kernels, copies and fills, their counts, and the tables' rows with device time must be equal; device times (medians of each set) within
1 %. stepscope may not have more work without a launch, or more kernels without an op. Exits 1 if any of this fails.
"""

import json
import statistics
import sys
from collections import Counter

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
TOLERANCE = 0.01


def read(path):
    with open(path, encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
    with open(path + ".averages", encoding="utf-8") as file:
        averages = json.load(file)
    work = [e for e in events if e.get("cat") in DEVICE]
    calls = {e["args"]["correlation"] for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    return {
        "counts": Counter((e["cat"], e["name"]) for e in work),
        "time": Counter({cat: sum(e["dur"] for e in work if e["cat"] == cat) for cat in DEVICE}),
        "averages": Counter({(a["name"], a["on_device"]): a["count"] for a in averages}),
        "op time": {a["name"]: a["us"] for a in averages if not a["on_device"]},
        "unlinked": sum(e["args"]["correlation"] not in calls for e in work),
        "without op": sum("External id" not in e["args"] for e in work if e["cat"] == "kernel"),
    }


def rows(theirs, ours):
    counts = theirs[0]["counts"], ours[0]["counts"]
    names = counts[0].keys() | counts[1].keys()
    differing = sorted(name for name in names if counts[0][name] != counts[1][name])
    yield "names of kernels, copies and fills", len(counts[0]), len(counts[1]), counts[0].keys() == counts[1].keys()
    yield "how many ran", counts[0].total(), counts[1].total(), not differing
    for category in DEVICE:
        medians = [statistics.median(trace["time"][category] for trace in traces) for traces in (theirs, ours)]
        close = abs(medians[1] - medians[0]) <= TOLERANCE * max(medians)
        yield f"time of {category} (µs, median)", f"{medians[0]:.3f}", f"{medians[1]:.3f}", close
    tables = theirs[0]["averages"], ours[0]["averages"]
    yield "rows of the table with time of their own on the device", len(tables[0]), len(tables[1]), tables[0] == tables[1]
    sums = [statistics.median(sum(trace["op time"].values()) for trace in traces) for traces in (theirs, ours)]
    yield "device time of ops in the table (µs, median)", f"{sums[0]:.3f}", f"{sums[1]:.3f}", abs(sums[1] - sums[0]) <= TOLERANCE * max(sums)
    yield "without their launch", theirs[0]["unlinked"], ours[0]["unlinked"], ours[0]["unlinked"] <= theirs[0]["unlinked"]
    yield "kernels without an op", theirs[0]["without op"], ours[0]["without op"], ours[0]["without op"] <= theirs[0]["without op"]
    for category, name in differing[:20]:
        yield f"`{name[:80]}` ({category})", counts[0][category, name], counts[1][category, name], False


def main(arguments):
    split = arguments.index("--")
    theirs, ours = ([read(path) for path in paths] for paths in (arguments[:split], arguments[split + 1 :]))
    print("| what | torch.profiler | stepscope | agrees |\n| --- | ---: | ---: | --- |")
    agree = True
    for what, left, right, same in rows(theirs, ours):
        print(f"| {what} | {left} | {right} | {'yes' if same else '**no**'} |")
        agree &= same
    return 0 if agree else 1


sys.exit(main(sys.argv[1:]))
