#!/usr/bin/env python3
"""Measures what recording I/O costs, and writes bench/IO.md.

    cmake --preset release && ninja -C build/release stepscope_io stepscope && python3 bench/io.py

A C program reads 4 KiB of a cached file on tmpfs, and opens and closes it, without the collector, with it, and with it on
a path that is not traced. Short processes take turns, since processes differ from each other by more than what is
measured; the figure is the process's CPU time.
"""
import argparse
import datetime
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from inputs import ROOT
from measure import machine, say
from results import table

OUT = ROOT / "bench/IO.md"
PREADS, PAIRS = 200_000, 40_000  # of one process
GOAL_TRACED, GOAL_UNTRACED = 150, 20
THREADS = (1, 2, 4, 8)
MODES = ("none", "traced", "not traced", "disabled")
# Measured with the same loop on another machine of this kind; ns of CPU added per pread and per open + close.
OTHERS = (
    ("Darshan 3.4.7, counters only", "160", "411"),
    ("Darshan 3.4.7 with DXT", "200", "440"),
    ("DFTracer 1.0.8, no arguments", "760", "1,790"),
    ("DFTracer 1.0.8 with arguments", "3,100", "5,500"),
)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="folder of the release build")
    parser.add_argument("--rounds", type=int, default=35, help="counted rounds")
    parser.add_argument("--dftracer", type=Path, help="a Python with dftracer installed, to be measured too")
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds; prints the document and writes none")
    asked = parser.parse_known_args()[0]  # the others are those of measure.py
    if asked.quick:
        asked.rounds = max(asked.rounds // 5, 1)
    return asked


class Bench:
    def __init__(self, asked, folder):
        self.asked, self.folder = asked, Path(folder)
        self.library = asked.build / "libstepscope_io.so"
        self.program = self.folder / "io_calls"
        subprocess.run(["cc", "-O2", "-pthread", "-o", self.program, ROOT / "bench/io_calls.c"], check=True)
        (self.folder / "data").mkdir()

    def environment(self, mode, out):
        env = {key: value for key, value in os.environ.items() if not key.startswith("STEPSCOPE")}
        if mode == "none":
            return env
        if mode == "DFTracer":
            return env | {"LD_PRELOAD": dftracer_library(self.asked), "DFTRACER_ENABLE": "1", "DFTRACER_INC_METADATA": "1",
                          "DFTRACER_INIT": "PRELOAD", "DFTRACER_DATA_DIR": str(self.folder / "data"),
                          "DFTRACER_LOG_FILE": str(out / "trace")}
        env |= {"LD_PRELOAD": str(self.library), "STEPSCOPE_IO": str(out), "STEPSCOPE_IO_MEGABYTES": "2048"}
        env["STEPSCOPE_IO_INCLUDE"] = str(self.folder / ("data" if mode != "not traced" else "elsewhere"))
        if mode == "disabled":
            env["STEPSCOPE_DISABLE"] = "io"
        return env

    def once(self, mode, threads):
        """CPU ns per pread and per pair, and the bytes of the recording."""
        out = self.folder / "out"
        out.mkdir()
        calls = PREADS // threads, PAIRS // threads
        done = subprocess.run([self.program, str(threads), str(calls[0]), str(calls[1]), self.folder / "data/file"],
                              env=self.environment(mode, out), capture_output=True, text=True, check=True)
        size = sum(path.stat().st_size for path in out.iterdir())
        shutil.rmtree(out)
        read, pair, *_ = map(float, done.stdout.split())
        return read, pair, size

    def rounds(self, threads, modes):
        found = {mode: [] for mode in modes}
        for turn in range(self.asked.rounds + 1):
            for mode in modes:
                result = self.once(mode, threads)
                if turn > 0:  # the first round warms up
                    found[mode].append(result)
            say(f"{threads} threads, round {turn} of {self.asked.rounds}")
        return found


def middle(rows, at):
    return statistics.median(row[at] for row in rows)


def spread(rows, at):
    values = [row[at] for row in rows]
    low, middle_one, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle_one:.0f} ({low:.0f}–{high:.0f})"


def added(found, mode, at):
    """The median of the differences within a round."""
    return statistics.median(one[at] - base[at] for one, base in zip(found[mode], found["none"]))


def verdict(value, goal):
    return "met" if value <= goal else "missed"


def demands(found):
    read, pair = added(found, "traced", 0), added(found, "traced", 1) / 2
    rows = [("added to a traced pread", f"{GOAL_TRACED} ns", f"{read:.0f} ns", verdict(read, GOAL_TRACED)),
            ("added to a traced open or close", f"{GOAL_TRACED} ns", f"{pair:.0f} ns", verdict(pair, GOAL_TRACED))]
    read, pair = added(found, "not traced", 0), added(found, "not traced", 1) / 2
    rows += [("added to a pread of a file that is not traced", f"{GOAL_UNTRACED} ns", f"{read:.0f} ns",
              verdict(read, GOAL_UNTRACED)),
             ("added to an open or close of such a file", f"{GOAL_UNTRACED} ns", f"{pair:.0f} ns",
              verdict(pair, GOAL_UNTRACED))]
    return table(("demand", "limit", "measured", "result"), rows)


def document(asked, found, threads, loads, begin):
    facts = machine()
    rows = [(mode, spread(rows, 0), f"{added(found, mode, 0):+.0f}", spread(rows, 1), f"{added(found, mode, 1):+.0f}")
            for mode, rows in found.items()]
    events = PREADS + 2 * PAIRS
    of_threads = [(count, spread(one["none"], 0), spread(one["traced"], 0), f"{added(one, 'traced', 0):+.0f}",
                   f"{added(one, 'traced', 1) / 2:+.0f}") for count, one in threads.items()]
    return "\n".join([
        "# What recording I/O costs", "",
        f"Written by `bench/io.py` on {begin}, commit {facts['commit']}; nothing in it is typed by hand but the figures "
        "of other tools.", "",
        f"- Machine: {facts['cores']} cores ({facts['cpu']}), {facts['memory'] / (1 << 30):.0f} GiB of memory, "
        f"{facts['compiler']}.",
        f"- Load average (1, 5, 15 minutes) at the start {loads[0]}, at the end {loads[1]}.",
        f"- In each round and configuration a process makes {PREADS:,} preads of 4 KiB that are cached, then {PAIRS:,} pairs "
        "of open and close, on tmpfs: `bench/io_calls.c`. The recording is on tmpfs, too.",
        f"- ns of the process's CPU time per call; median (quartiles) of {asked.rounds} rounds after one that is not "
        "counted. Configurations take turns; what is added is the median of the differences within a round.",
        "- With all arguments: file, offset, size, result, errno, descriptor, flags, duration, thread.", "",
        demands(found), "",
        "## Per call", "",
        table(("configuration", "pread", "added", "open + close", "added"), rows), "",
        f"The recording takes {middle(found['traced'], 2) / events:.1f} bytes per event.", "",
        "## Threads", "",
        "The same number of calls, divided among threads, each with its own file.", "",
        table(("threads", "pread", "pread traced", "added", "added per open or close"), of_threads), "",
        "## Other tools", "",
        "From a run of the same loop on a machine of this kind (2 shared cores, load 4 to 6): ns of CPU time added. "
        "DFTracer wrote 104 bytes per event without arguments and 230 with them.", "",
        table(("tool", "pread", "open + close"), OTHERS), "",
    ] + dftracer(asked, found)) + "\n"


def dftracer_library(asked):
    if asked.dftracer is None:
        return None
    place = "import dftracer, pathlib; print(*pathlib.Path(list(dftracer.__path__)[0]).rglob('libdftracer_preload.so'))"
    done = subprocess.run([asked.dftracer, "-c", place], capture_output=True, text=True)
    return (done.stdout.split() or [None])[0]


def dftracer(asked, found):
    if "DFTracer" in found:
        return [f"DFTracer {asked.version} from PyPI, preloaded, with its defaults and with arguments "
                "(`DFTRACER_INC_METADATA=1`), took turns in this run: see the first table."]
    return ["DFTracer was not measured in this run: " + (
        "no `--dftracer` was given." if asked.dftracer is None else
        "its package on PyPI holds no library to preload.")]


def main():
    asked = arguments()
    begin = f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC"
    asked.version = "" if asked.dftracer is None else subprocess.run(
        [asked.dftracer, "-c", "import importlib.metadata as m; print(m.version('dftracer'))"], capture_output=True,
        text=True).stdout.strip()
    loads = [" ".join(f"{load:.2f}" for load in os.getloadavg())]
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        bench = Bench(asked, folder)
        found = bench.rounds(1, MODES + (("DFTracer",) if dftracer_library(asked) else ()))
        threads = {count: bench.rounds(count, MODES[:2]) for count in THREADS}
        loads.append(" ".join(f"{load:.2f}" for load in os.getloadavg()))
        text = document(asked, found, threads, loads, begin)
    if asked.quick:
        print(text)
    else:
        OUT.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
