"""Measures what recording a PyTorch program costs, with stepscope and with torch.profiler; writes bench/COLLECT.md.

    bench/collect/run.sh [--turns N] [--events N] [-o FILE]

finds a Python that has torch, and builds stepscope for it. Each way of recording runs in processes of its own, one process after the
other in turn; within a process, rounds with and without recording alternate. Results are the median and range of the turns' medians.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WAYS = [("ops only", "-"), ("+ shapes", "shapes"), ("+ memory", "memory"), ("+ stacks", "stacks"), ("+ sampled stacks", "sampled")]
PROGRAMS = ("mlp", "cnn", "transformer", "loader", "workers", "transformer with Adam", "mobilenet")
REAL_WAYS = WAYS[:2]
REAL_LIMIT = 0.35
PEER = {"sampled": "stacks"}  # torch.profiler does not sample: compared with its stacks


def one(*words):
    done = subprocess.run([sys.executable, str(HERE / "one.py"), *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"collect: one.py {' '.join(words)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def middle(values, digits=0):
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def verdict(ratio, limit):
    return f"{ratio:.3f} | {limit:.3f} | {'met' if ratio <= limit else '**not met**'} |"


def added(turns, say):
    lines = [
        "| recorded | without, ns | floor: empty callback, ns | stepscope, ns | torch.profiler, ns | ratio | at most | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, options in WAYS:
        say(name)
        kinds = {"floor": options, "stepscope": options, "torch": PEER.get(options, options)}
        found = {kind: [] for kind in kinds}
        base = []
        for _ in range(turns):
            for kind, asked in kinds.items():
                one_turn = one("added", kind, asked)
                found[kind].append(one_turn["added"])
                base.append(one_turn["base"])
        ratio = statistics.median(found["stepscope"]) / statistics.median(found["torch"])
        lines.append(f"| {name} | {middle(base)} | {middle(found['floor'])} | {middle(found['stepscope'])} | {middle(found['torch'])} | {verdict(ratio, 0.5)}")
    return lines


def real(turns, say):
    lines = [
        "| program, recorded | ops per step | floor, CPU ns per op | stepscope, CPU ns | torch.profiler, CPU ns | ratio | floor ÷ torch | at most | | wall ns per op, stepscope and torch |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for program in PROGRAMS:
        for name, options in REAL_WAYS:
            say(f"{program}, {name}")
            cpu, wall, ops = {}, {}, 0
            for _ in range(turns):
                for kind in ("floor", "stepscope", "torch"):
                    found = one("real", kind, options, program)
                    ops = found["ops"]
                    cpu.setdefault(kind, []).append(found["cpu"] / ops)
                    wall.setdefault(kind, []).append(found["wall"] / ops)
            floor, ours, theirs = (statistics.median(cpu[kind]) for kind in ("floor", "stepscope", "torch"))
            walls = " and ".join(f"{statistics.median(wall[kind]):,.0f}" for kind in ("stepscope", "torch"))
            cells = " | ".join(middle(cpu[kind]) for kind in ("floor", "stepscope", "torch"))
            met = "met" if ours <= REAL_LIMIT * theirs else "**not met**"
            lines.append(f"| {program}, {name} | {ops:,} | {cells} | {ours / theirs:.2f} | {floor / theirs:.2f} | {REAL_LIMIT} | {met} | {walls} |")
    return lines


def whole(events, turns, say):
    lines = ["| | stepscope | torch.profiler | ratio | at most | |", "|---|---|---|---|---|---|"]
    say(f"{events:,} events")
    ours, theirs = [], []
    for _ in range(turns):
        for kind, found in (("stepscope", ours), ("torch", theirs)):
            found.append(one("whole", kind, "-", str(events)))

    def row(what, of, digits, limit):
        a, b = [of(x) for x in ours], [of(x) for x in theirs]
        lines.append(f"| {what} | {middle(a, digits)} | {middle(b, digits)} | {verdict(statistics.median(a) / statistics.median(b), limit)}")

    million = 1e6 / events
    row("stop() and export_chrome_trace(), s", lambda x: x["stop_s"] + x["export_s"], 3, 0.1)
    row("of that, stop(), s", lambda x: x["stop_s"], 4, 0.1)
    row("memory held when recorded, MB per million ops", lambda x: x["held"] * million / 1e6, 1, 1 / 3)
    row("highest memory through stop and export, MB per million ops", lambda x: x["peak"] * million / 1e6, 1, 1 / 3)
    lines.append(f"| file, MB | {middle([x['bytes'] / 1e6 for x in ours], 1)} | {middle([x['bytes'] / 1e6 for x in theirs], 1)} | | | |")
    return lines


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--turns", type=int, default=5)
    asked.add_argument("--real-turns", type=int, default=2)
    asked.add_argument("--events", type=int, default=200_000)
    asked.add_argument("-o", "--output", type=Path, default=HERE.parent / "COLLECT.md")
    options = asked.parse_args()
    import torch

    def say(what):
        print(f"collect: {what}", file=sys.stderr, flush=True)

    text = f"""# What recording costs

Written by `make bench` or `bench/collect/run.sh --turns {options.turns} --real-turns {options.real_turns} --events {options.events}` with Python {platform.python_version()} and
torch {torch.__version__} on {os.cpu_count()} cores ({platform.machine()}). Every cell is the median of {options.turns} processes and, in brackets,
their range.

## Added to each op

ns of the thread's CPU time per `torch.add` of 4 floats in a Python loop, over the same loop without recording. With memory, each op
allocates its result; with stacks, each is called in a Python function of its own. The floor registers callbacks that do nothing:
no observer costs less. torch.profiler has no samples; its stacks stand beside ours. What an op costs after the loop is below.

{chr(10).join(added(options.turns, say))}

## Added to each op of training

CPU time of all threads, and wall time, that recording adds to a training step, per op that it records. Short blocks of steps with and
without recording take turns in one process, {options.real_turns} processes for each cell, on one thread for ops. The programs are
those of the parity test and two larger ones (`bench/collect/programs.py`). What a callback costs that does nothing is the floor: where
it alone is above {REAL_LIMIT} of torch.profiler's cost, no observer of PyTorch's ops can meet the limit. A step of `workers` waits for other processes most of its time: its differences are noise.

{chr(10).join(real(options.real_turns, say))}

## Stopping and writing

{options.events:,} ops, nothing else recorded.

{chr(10).join(whole(options.events, options.turns, say))}
"""
    options.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
