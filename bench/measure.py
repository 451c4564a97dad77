#!/usr/bin/env python3
"""Measures stepscope, its peers and the machine's limits in one run, and writes the results as Markdown.

bench/run.sh builds what this needs and calls it; --help names the options. Commands are timed as whole processes
by timing.py, inputs come from inputs.py, peers from peer_setup.py, and results.py writes what was measured.
"""
import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import hta_calls
import many_ranks
import results
from inputs import ROOT, SOURCES, Store
from peer_setup import PEERS, Peers
from timing import CORES, Command, Figures, floor_bytes, interleave

MB = 1_000_000
MAIN_SIZE = 324 * MB
GROWTH_SIZES = tuple(size * MB for size in (30, 100, 324, 1000, 2000))
GROWTH_EVENTS = 5_000_000
THREADS = (1, 2, 3, 8)
ROUNDS = 5
PEER_LIMIT_S = 400.0


@dataclass
class FileResult:
    """One input and its results. `read_events` is the count of `stepscope validate`, -1 if that failed."""

    source: object
    input: object
    figures: dict = field(default_factory=dict)
    read_events: int = -1
    complete: bool = False


@dataclass
class Run:
    """All results of one benchmark run; results.py turns them into a document."""

    options: argparse.Namespace
    flags: list
    machine: dict
    begin: str
    load_begin: tuple
    load_end: tuple = ()
    floor: int = 0
    files: list = field(default_factory=list)
    threads: list = field(default_factory=list)
    growth: list = field(default_factory=list)
    jobs: list = field(default_factory=list)  # of many ranks
    calls: object = None  # hta_calls.Calls
    left_out: list = field(default_factory=list)
    peers: Peers = None


def say(text):
    print(text, file=sys.stderr, flush=True)


def arguments():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stepscope-bench"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="folder of the release build")
    parser.add_argument("--cache", type=Path, default=cache, help="where inputs and peers are kept (about 6 GB)")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/RESULTS.md", help="the document to write")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="counted rounds of everything that is quick")
    parser.add_argument("--peer-limit", type=float, default=PEER_LIMIT_S, help="seconds after which a peer is stopped")
    parser.add_argument("--no-peers", action="store_true", help="install and run no peer")
    parser.add_argument("--no-growth", action="store_true", help="measure one size only")
    parser.add_argument("--quick", action="store_true", help="small inputs: tries the script, measures nothing of use")
    return parser.parse_args()


def first_line(argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def machine():
    cpu, flags = platform.machine(), ""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                cpu = value.strip()
            if key.strip() == "flags":
                flags = value.split()
    except OSError:
        pass
    wide = [name for name in ("avx2", "avx512f") if name in flags]
    return {"cpu": cpu, "wide": wide, "cores": CORES,
            "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "compiler": first_line(["c++", "--version"]), "python": platform.python_version(),
            "commit": commit()}


def flags_of(options):
    """Options that differ from the defaults, without paths."""
    flags = [f"--{name.replace('_', '-')}" for name in ("no_peers", "no_growth", "quick") if getattr(options, name)]
    for name, usual in (("rounds", ROUNDS), ("peer_limit", PEER_LIMIT_S)):
        if getattr(options, name) != usual:
            flags.append(f"--{name.replace('_', '-')} {getattr(options, name):g}")
    return flags


def commit():
    """The commit the program was built from, and whether its sources had been changed since."""
    changed = first_line(["git", "-C", str(ROOT), "status", "--porcelain", "--", "src", "CMakeLists.txt"])
    return first_line(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]) + (
        "" if changed == "unknown" else " and changes not committed")


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.stepscope = options.build / "stepscope"
        now = datetime.datetime.now(datetime.timezone.utc)
        self.run = Run(options, flags_of(options), machine(), now.strftime("%Y-%m-%d %H:%M UTC"), os.getloadavg())
        self.run.peers = Peers(options.cache, say)
        self.store = Store(options.cache / "inputs", options.build / "bench/make_trace", say)
        self.newest = None

    def report(self, path, *flags):
        return [str(self.stepscope), "report", str(path), *flags]

    def validate(self, result):
        """Compares the number of events that stepscope reads with the number that the writer of the file counted."""
        figures = interleave([Command("validate", [str(self.stepscope), "validate", "-f", "json", str(result.input.path)],
                                      1, 0)], self.folder, lambda _: None)["validate"]
        try:
            table = json.loads(figures.outputs[0].text)["tables"][0]
            row = dict(zip([column["name"] for column in table["columns"]], table["rows"][0]))
        except (ValueError, KeyError, IndexError) as error:
            say(f"  validate {result.input.name}: {figures.failed or error}")
            return
        result.read_events = row["events"]
        result.complete = row["complete"] == "yes" and row["events"] == result.input.events

    def prepare_peers(self):
        if self.options.no_peers:
            self.run.left_out.append("Peers: not asked for in this run (`--no-peers`).")
            return
        say("peers")
        self.run.peers.prepare()
        self.newest = self.run.peers.newest_simdjson("c++")

    def commands(self, path, plain):
        """The commands to run on one file; cheap ones run in every round."""
        rounds = self.options.rounds
        all_of_it = [Command("report", self.report(path), rounds),
                     Command("report_1", self.report(path, "-j", "1"), rounds)]
        limits = self.options.build / "bench/bench_limits"
        if limits.exists():
            all_of_it.append(Command("limits", [str(limits), str(path)], rounds))
        if plain:
            all_of_it.append(Command("simdjson", [str(self.options.build / "bench/bench_simdjson"), str(path)], rounds))
            if self.newest:
                all_of_it.append(Command("simdjson_new", [str(self.newest), str(path)], rounds))
        if not self.options.no_peers:
            for peer in PEERS:
                if peer.key not in self.run.peers.missing:
                    cheap = peer.rounds > 1
                    all_of_it.append(Command(peer.key, self.run.peers.argv(peer, path),
                                             min(peer.rounds, rounds), 1 if cheap else 0, self.options.peer_limit))
        return all_of_it

    def measure_files(self):
        size = 20 * MB if self.options.quick else MAIN_SIZE
        for source in SOURCES:
            plain = self.store.of_size(source, size)
            for one in (plain, self.store.packed(plain)):
                say(f"{one.name}: {one.bytes / MB:.1f} MB")
                result = FileResult(source, one)
                self.run.files.append(result)
                result.figures = interleave(self.commands(one.path, one is plain), self.folder, say)
                result.figures |= interleave([Command("in_a_row", self.report(one.path), self.options.rounds)], self.folder,
                                             lambda _: None)
                self.validate(result)

    def compare_threads(self):
        for result in self.run.files:
            say(f"{result.input.name}: the same answer from {', '.join(map(str, THREADS))} threads?")
            commands = [Command(str(n), self.report(result.input.path, "--format", "json", "-j", str(n)), 3, 0)
                        for n in THREADS]
            self.run.threads.append((result, interleave(commands, self.folder, lambda _: None)))

    def growth_inputs(self):
        source = SOURCES[0]
        sizes = [size // 40 for size in GROWTH_SIZES] if self.options.quick else GROWTH_SIZES
        events = GROWTH_EVENTS // 40 if self.options.quick else GROWTH_EVENTS
        found = {}
        for size in sizes:
            if not self.store.room_for(size):
                self.run.left_out.append(f"Growth at {size / MB:.0f} MB: the disk has no room for the file.")
                continue
            one = self.store.of_size(source, size)
            found[one.path] = one
        one = self.store.of_events(source, events)
        found[one.path] = one
        return sorted(found.values(), key=lambda each: each.bytes)

    def measure_growth(self):
        if self.options.no_growth:
            self.run.left_out.append("Growth, 2 GB and 5 million events: not asked for in this run (`--no-growth`).")
            return
        say("growth")
        results_of = [FileResult(SOURCES[0], one) for one in self.growth_inputs()]
        commands = [Command(result.input.name, self.report(result.input.path), min(3, self.options.rounds))
                    for result in results_of]
        figures = interleave(commands, self.folder, say)
        for result in results_of:
            result.figures = {"report": figures[result.input.name]}
            self.validate(result)
        self.run.growth = results_of

    def measure_ranks(self):
        if self.options.no_growth:
            return
        counts = (8, 16) if self.options.quick else many_ranks.COUNTS
        if not self.store.room_for(counts[-1] * 6 * MB):
            self.run.left_out.append(f"{counts[-1]} ranks: the disk has no room for their files.")
            return
        self.run.jobs = many_ranks.measure(self.stepscope, self.options.build / "bench/make_trace", self.folder, counts,
                                           min(3, self.options.rounds), say)

    def measure_calls(self):
        if self.options.no_peers or "hta" in self.run.peers.missing:
            return
        say("HTA's calls")
        self.run.calls = hta_calls.measure(self.run.peers.python, self.run.files[0].input.path, self.folder, say)

    def everything(self):
        self.run.floor = floor_bytes(self.folder)
        self.prepare_peers()
        self.measure_files()
        self.compare_threads()
        self.measure_growth()
        self.measure_ranks()
        self.measure_calls()
        self.run.load_end = os.getloadavg()
        return self.run


def main():
    options = arguments()
    if not (options.build / "stepscope").exists():
        sys.exit(f"measure.py: there is no stepscope in {options.build}; bench/run.sh builds it")
    options.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.cache) as folder:
        try:
            run = Bench(options, folder).everything()
        except (RuntimeError, OSError) as error:
            sys.exit(f"measure.py: {error}")
    part = options.out.with_suffix(".part")
    part.write_text(results.document(run), encoding="utf-8")
    part.replace(options.out)
    say(f"The results are in {options.out}")


if __name__ == "__main__":
    main()
