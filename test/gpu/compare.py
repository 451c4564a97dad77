"""Prints in Markdown, a line per check, whether stepscope sees on a GPU what torch.profiler sees: compare.py FOLDER

FOLDER has what run.sh left there: CHECK.PROFILER.ROUND.json of workload.py, CHECK.PROFILER.ROUND.log beside it, and tests.json of
GoogleTest. A check without its files is a line that failed; the others are printed all the same. Exits 1 if any line failed.

Kernels, copies and fills, their counts, and the tables' rows with device time must be equal; device times (medians of the rounds) within
1 %. Those of copies and fills may also lie within the range of torch.profiler's own runs: copies from pageable memory take as long as the host
makes them. stepscope may not have more work without a launch, or more kernels without an op. A launch may cost 1.25 times what
torch.profiler adds, or 0.5 µs more. Memory must be equal to the byte, record by record and op by op.
"""

import json
import pathlib
import statistics
import sys

TOLERANCE = 0.01
SEVERAL_TOOLS = "ASecondToolOnTheDevice"
"""The test of test/cupti that needs a GPU and CUDA 13.3."""


class Missing(Exception):
    """A check left no result; says why."""


def read(folder, check, profiler):
    """What the profiler saw in each round."""
    paths = sorted(folder.glob(f"{check}.{profiler}.*.json"))
    if not paths:
        logs = sorted(folder.glob(f"{check}.{profiler}.*.log"))
        lines = [line for line in logs[0].read_text(errors="replace").splitlines() if line.strip()] if logs else []
        raise Missing(f"{profiler}: {lines[-1][:160] if lines else 'it was not run'}")
    return [json.loads(path.read_text()) for path in paths]


def counts(listed):
    return {tuple(key): count for *key, count in listed}


def cell(times):
    return f"{statistics.median(times):.3f} ({min(times):.3f} to {max(times):.3f})"


def of_time(what, theirs, ours, varies=False):
    """A line that compares the medians of two lists of µs; ``varies``: from run to run, under one profiler."""
    wanted, seen = statistics.median(theirs), statistics.median(ours)
    close = abs(seen - wanted) <= TOLERANCE * max(wanted, seen) or (varies and min(theirs) <= seen <= max(theirs))
    return f"{what}, µs, median and range", cell(theirs), cell(ours), close


def training(theirs, ours):
    wanted, seen = counts(theirs[0]["counts"]), counts(ours[0]["counts"])
    differing = sorted(name for name in wanted.keys() | seen.keys() if wanted.get(name) != seen.get(name))
    yield "names of kernels, copies and fills", len(wanted), len(seen), wanted.keys() == seen.keys()
    yield "how many ran", sum(wanted.values()), sum(seen.values()), not differing
    for category, name in differing[:20]:
        yield f"`{name[:80]}` ({category})", wanted.get((category, name), 0), seen.get((category, name), 0), False
    for category in ("kernel", "gpu_memcpy", "gpu_memset"):
        yield of_time(f"time of {category}", *([t["time"][category] for t in traces] for traces in (theirs, ours)), varies=category != "kernel")
    tables = counts(theirs[0]["averages"]), counts(ours[0]["averages"])
    yield "rows of the table with time of their own on the device", len(tables[0]), len(tables[1]), tables[0] == tables[1]
    yield of_time("device time of ops in the table", *([t["op time"] for t in traces] for traces in (theirs, ours)))
    for what in ("unlinked", "without op"):
        words = "device work without its launch" if what == "unlinked" else "kernels without an op"
        yield words, f"≤ {theirs[0][what]}", ours[0][what], ours[0][what] <= theirs[0][what]
    yield from costs(theirs, ours)


def costs(theirs, ours):
    def ms(traces, what):
        return statistics.median(trace["cost"][what] for trace in traces) * 1e3

    added = [(ms(traces, "recorded launch") - ms(traces, "launch")) * 1e3 for traces in (theirs, ours)]
    yield "added to each launch, µs", f"{added[0]:.2f}", f"{added[1]:.2f}", added[1] <= max(1.25 * added[0], added[0] + 0.5)
    for what, words in (("step", "a step, not recorded"), ("recorded step", "a step, recorded"), ("first start", "first start()"),
                        ("stop and export", "stop() and export")):  # fmt: skip
        yield f"{words}, ms (told, not checked)", f"{ms(theirs, what):.3f}", f"{ms(ours, what):.3f}", None


def memory(theirs, ours):
    wanted, seen = theirs[0]["records"], ours[0]["records"]
    yield "memory: reports of the allocator", len(wanted), len(seen), len(wanted) == len(seen) > 0
    for place, words in enumerate(("device", "bytes", "total allocated", "total reserved")):
        apart = sum(a[place] != b[place] for a, b in zip(wanted, seen))
        yield f"memory: reports whose {words} differ", 0, apart, apart == 0
    yield "memory: ops with memory of their own, to the byte", len(theirs[0]["by op"]), len(ours[0]["by op"]), theirs[0]["by op"] == ours[0]["by op"]
    most = max((total for _, _, total, _ in seen), default=0)
    yield "memory: peak, bytes", ours[0]["peak"], most, most == ours[0]["peak"]


def graph(theirs, ours):
    wanted, seen = counts(theirs[0]["kernels"]), counts(ours[0]["kernels"])
    yield "graph: kernels of three replays", sum(wanted.values()), sum(seen.values()), sum(wanted.values()) == sum(seen.values()) > 0
    named = sum(count for (op, _), count in seen.items() if op)
    yield "graph: kernels that name the op that captured them", sum(seen.values()), named, named == sum(seen.values()) > 0
    differing = sorted(key for key in wanted.keys() | seen.keys() if wanted.get(key) != seen.get(key))
    yield "graph: ops and their kernels, as without a graph", len(wanted), len(wanted.keys() & seen.keys()), not differing
    for op, name in differing[:10]:
        yield f"graph: `{name[:60]}` of {op or 'no op'}", wanted.get((op, name), 0), seen.get((op, name), 0), False


def triton(theirs, ours):
    wanted, seen = theirs[0]["launches"], ours[0]["launches"]
    yield "triton: launches", len(wanted), len(seen), len(wanted) == len(seen) > 0
    for place, words in enumerate(("grid", "block, from num_warps", "shared memory", "shape of the first argument")):
        example = [launches[0][place] if launches else "" for launches in (wanted, seen)]
        yield f"triton: {words}", *example, [a[place] for a in wanted] == [b[place] for b in seen]


def tests(folder):
    """The lines of the collector's own tests, with this machine's CUPTI."""
    path = folder / "tests.json"
    if not path.exists():
        raise Missing("they were not run")
    suites = json.loads(path.read_text())["testsuites"]
    ran = {test["name"]: test for suite in suites for test in suite["testsuite"]}
    failed = sorted(name for name, test in ran.items() if test.get("failures"))
    yield "tests of the collector that fail", "none", ", ".join(failed)[:160] or f"none of {len(ran)}", bool(ran) and not failed
    several = ran.get(SEVERAL_TOOLS)
    if several is None:
        yield "several tools at once", "both see all work", "the test was not run", False
    elif several.get("result") == "SKIPPED":
        yield "several tools at once", "both see all work", "left out: it needs a GPU and CUDA 13.3", None
    else:
        yield "several tools at once", "both see all work", "no" if several.get("failures") else "yes", not several.get("failures")


def lines(folder):
    """(what, wanted, seen, whether it is so; None: not checked) of all checks."""
    try:
        yield from tests(folder)
    except Missing as why:
        yield "tests of the collector", "a result", why, False
    for check in (training, memory, graph, triton):
        try:
            yield from check(read(folder, check.__name__, "torch"), read(folder, check.__name__, "stepscope"))
        except (Missing, KeyError, IndexError, TypeError, ValueError) as why:
            yield f"{check.__name__}: the check", "a result", f"{type(why).__name__}: {why}", False


def main(folder):
    print("| what | wanted: torch.profiler's | seen: stepscope's | ok |\n| --- | ---: | ---: | --- |")
    failed = False
    for what, wanted, seen, is_so in lines(pathlib.Path(folder)):
        cells = (str(text).replace("|", "\\|").replace("\n", " ") for text in (what, wanted, seen))
        print(f"| {' | '.join(cells)} | {'' if is_so is None else 'yes' if is_so else '**no**'} |")
        failed |= is_so is False
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
