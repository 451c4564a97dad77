#!/usr/bin/env python3
"""Measures memory snapshots, beside Python's pickle.load, and writes bench/SNAPSHOTS.md.

bench/run.sh builds what this needs and calls it. Snapshots come from ../shared/tools/make_snapshot.py; without it
nothing is measured, and the document stays as it is.
"""
import argparse
import datetime
import json
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from demands import judged
from inputs import ROOT, SHARED, Store, digest
from measure import ROUNDS, machine, say
from results import MB, QUIET, loads, mib, percent, seconds, table, timed
from timing import Command, floor_bytes, interleave

MAKE = SHARED / "tools" / "make_snapshot.py"
REPEAT = ROOT / "bench/repeat_snapshot.py"
PEER = ROOT / "bench/peers/pickle_load.py"
OUT = ROOT / "bench/SNAPSHOTS.md"
EVENTS = 1_000_000
TURNS = 10
TIMES_FASTER = 10
SHARE_OF_MEMORY = 0.25
INSTANT_MS = 20


@dataclass
class Run:
    machine: dict
    begin: str
    load_begin: tuple
    rounds: int
    input: object = None
    large: object = None
    floor: int = 0
    figures: dict = field(default_factory=dict)
    large_figures: object = None
    large_events: int = 0
    cost: dict = field(default_factory=dict)
    load_end: tuple = ()


def arguments():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stepscope-bench"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="folder of the release build")
    parser.add_argument("--cache", type=Path, default=cache, help="where snapshots are kept (1.8 GB)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="counted rounds")
    parser.add_argument("--no-growth", action="store_true", help="leave out 10 million events")
    parser.add_argument("--quick", action="store_true", help="small snapshots; prints the document and writes none")
    return parser.parse_known_args()[0]  # the others are those of measure.py


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.stepscope = options.build / "stepscope"
        self.store = Store(options.cache / "inputs", options.build / "bench/make_trace", say)
        now = datetime.datetime.now(datetime.timezone.utc)
        self.run = Run(machine(), now.strftime("%Y-%m-%d %H:%M UTC"), os.getloadavg(), options.rounds)

    def made(self):
        events = EVENTS // 50 if self.options.quick else EVENTS
        path = self.store.folder / f"snapshot-{events}-{digest(MAKE)}.pickle"
        flags = ["-n", str(events), "--oom", "-o"]
        command = f"python3 {os.path.relpath(MAKE, ROOT)} {' '.join(flags)} {path.name}"
        return self.store.kept(path, command, [sys.executable, str(MAKE), *flags], "events_kept")

    def repeated(self, one):
        path = self.store.folder / f"{one.path.stem}-x{TURNS}-{digest(REPEAT)}.pickle"
        command = f"python3 bench/repeat_snapshot.py {one.name} {TURNS} {path.name}"
        return self.store.kept(path, command, [sys.executable, str(REPEAT), str(one.path), str(TURNS)])

    def ask(self, path):
        return [str(self.stepscope), "show", "memory_peak", str(path)]

    def events_of(self, path):
        command = Command("summary", [str(self.stepscope), "show", "memory_summary", str(path), "-f", "json"], 1, 0)
        found = interleave([command], self.folder, lambda _: None)["summary"]
        if not found.ok:
            return 0
        of = json.loads(found.outputs[0].text)["tables"][0]
        at = [column["name"] for column in of["columns"]].index("events")
        return sum(row[at] for row in of["rows"])

    def everything(self):
        run, rounds = self.run, self.options.rounds
        run.floor = floor_bytes(self.folder)
        run.input = self.made()
        say(f"{run.input.name}: {run.input.bytes / MB:.1f} MB")
        run.figures = interleave([Command("ours", self.ask(run.input.path), rounds),
                                  Command("pickle", [sys.executable, str(PEER), str(run.input.path)], rounds)], self.folder, say)
        cost = Command("cost", [str(self.options.build / "bench/snapshot_cost"), str(run.input.path)], 1)
        run.cost = json.loads(interleave([cost], self.folder, say)["cost"].outputs[0].text)
        if not self.options.no_growth:
            run.large = self.repeated(run.input)
            say(f"{run.large.name}: {run.large.bytes / MB:.1f} MB")
            run.large_figures = interleave([Command("ours", self.ask(run.large.path), min(3, rounds))], self.folder, say)["ours"]
            run.large_events = self.events_of(run.large.path)
        run.load_end = os.getloadavg()
        return run


def demands(run):
    ours, theirs = run.figures["ours"], run.figures["pickle"]
    name = f"{run.input.events:,} events"
    times, share, slowest = theirs.wall / ours.wall, ours.peak / theirs.peak, run.cost["live_set"]["max_ms"]
    found = [judged(f"{name}: memory_peak answered, faster than Python's pickle.load alone", f"{TIMES_FASTER} ×", "", f"{times:.1f} ×",
                    times >= TIMES_FASTER),
             judged(f"{name}: its memory", "a quarter", "", f"{share * 100:.0f} %", share <= SHARE_OF_MEMORY),
             judged(f"{name}: what is allocated at any instant, once open", f"{INSTANT_MS} ms", "", f"at most {slowest:.2f} ms",
                    slowest < INSTANT_MS)]
    if run.large:
        found.append(judged(f"{run.large.events:,} events open", "all events", "", f"{run.large_events:,} of {run.large.events:,} events",
                            run.large_figures.ok and run.large_events == run.large.events))
    return found


def document(run):
    ours, of = run.figures["ours"], run.machine
    pairs = [pair for figures in run.figures.values() for pair in zip(figures.wall_s, figures.others)]
    others = sum(wall * share for wall, share in pairs) / sum(wall for wall, _ in pairs) if pairs else 0
    lines = ["# Memory snapshots", "",
             f"Written by `bench/snapshots.py`, a part of `make bench`, on {run.begin}, commit {of['commit']}; nothing in it is typed by hand.", "",
             f"- Machine: {of['cores']} cores ({of['cpu']}), {of['memory'] / 2**30:.0f} GiB of memory, {of['compiler']}, Python {of['python']}.",
             f"- Load average (1, 5, 15 minutes) at the start {loads(run.load_begin)}, at the end {loads(run.load_end)}.",
             f"- Each command is timed as a whole process, from outside. Median (least–most) of {run.rounds} rounds after one that is not "
             f"counted; commands take turns. Files are in the page cache. Peak memory below {mib(run.floor)} MiB cannot be told apart.",
             "- MB is 10^6 bytes; MiB is 2^20 bytes.", "",
             f"**The machine was not quiet: other work took {percent(others)} of its cores while commands were timed. Seconds are too high; "
             "processor time is steadier.**" if others > QUIET else f"Other work took {percent(others)} of the cores while commands were timed.",
             "", "## Asked and measured", "",
             table(("demand", "limit", "measured", "result"), [(d.text, d.limit, d.measured, d.verdict) for d in demands(run)]), "",
             f"## {run.input.events:,} events", "",
             f"{run.input.bytes / MB:.1f} MB, made by\n`{run.input.made_by}`.", ""]
    names = {"ours": "`stepscope show memory_peak`", "pickle": "Python pickle.load"}
    rows = [(names[key], timed(f), seconds(f.cpu), f"{run.input.bytes / MB / f.wall:,.0f}", mib(f.peak),
             f"{f.wall / ours.wall:.1f} / {f.cpu / ours.cpu:.1f}") for key, f in run.figures.items()]
    lines += [table(("command", "wall s", "processor s", "MB/s", "peak MiB", "times ours (wall / processor)"), rows), "",
              "## Once it is open", "",
              f"`build/release/bench/snapshot_cost FILE`: {run.cost['instants']} instants by chance, in one process that read the file in "
              f"{run.cost['read_ms'] / 1000:.2f} s and replayed its events in {run.cost['replay_ms']:.0f} ms. At most {run.cost['most_live']:,} "
              "allocations are alive at one of them.", ""]
    asked = {"live_set": "all allocations that are alive", "levels": "requested and reserved bytes", "memory_peak": "the answer of `memory_peak --at`"}
    lines += [table(("at an instant", "median ms", "95 % within ms", "most ms"),
                    [(text, *(f"{run.cost[key][part]:.3f}" for part in ("p50_ms", "p95_ms", "max_ms"))) for key, text in asked.items()])]
    if run.large:
        f = run.large_figures
        lines += ["", f"## {run.large.events:,} events", "", f"{run.large.bytes / MB:,.1f} MB, made by\n`{run.large.made_by}`.", "",
                  table(("command", "wall s", "processor s", "MB/s", "peak MiB", "bytes per event", "all events read"),
                        [(names["ours"], timed(f), seconds(f.cpu), f"{run.large.bytes / MB / f.wall:,.0f}", mib(f.peak),
                          f"{f.peak / run.large.events:.0f}", "yes" if run.large_events == run.large.events else "**no**")]
                        if f.ok else [(names["ours"], f.failed, *["–"] * 5)])]
    return "\n".join(lines) + "\n"


def main():
    options = arguments()
    if not MAKE.exists():
        say(f"snapshots.py: {os.path.relpath(MAKE, ROOT)} is absent: memory snapshots are not measured")
        return
    options.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.cache) as folder:
        try:
            text = document(Bench(options, folder).everything())
        except (RuntimeError, OSError) as error:
            sys.exit(f"snapshots.py: {error}")
    if options.quick:
        print(text)
        return
    part = OUT.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(OUT)
    say(f"The results are in {OUT}")


if __name__ == "__main__":
    main()
