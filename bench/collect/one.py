"""Measures one way of recording in a process of its own; prints one line of JSON. Called by cost.py.

    python one.py added PROFILER OPTIONS      ns of this thread's CPU time per op, with and without recording in alternation
    python one.py real PROFILER OPTIONS NAME  CPU and wall time per step of a program of programs.py, likewise, and its ops
    python one.py whole PROFILER OPTIONS N    N ops recorded, stopped and exported: seconds and memory

PROFILER is stepscope, torch or floor; OPTIONS is a list like shapes,memory,overloads, or "-".
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

ROUNDS, OPS = 9, 40_000  # more than one segment holds, so that the cost of new segments is included
ROOM = {"megabytes": 4096}


def profiler(which, options):
    """A context manager that records."""
    named = {"shapes": "record_shapes", "memory": "profile_memory", "stacks": "with_stack"}
    arguments = {named[option]: True for option in options if option in named}
    if which == "torch":
        from torch.profiler import ProfilerActivity, _ExperimentalConfig, profile

        if "overloads" in options:
            arguments["experimental_config"] = _ExperimentalConfig(capture_overload_names=True)
        return profile(activities=[ProfilerActivity.CPU], **arguments)
    if which == "stepscope":
        from stepscope.profiler import ProfilerActivity, _ExperimentalConfig, profile

        if "overloads" in options:
            arguments["experimental_config"] = _ExperimentalConfig(capture_overload_names=True)
        if "sampled" in options:
            arguments["with_stack"] = "sampled"
        return profile(activities=[ProfilerActivity.CPU], **ROOM, **arguments)
    return Floor("shapes" in options)


class Floor(contextlib.AbstractContextManager):
    library = None

    def __init__(self, with_inputs):
        self.with_inputs = int(with_inputs)

    def __enter__(self):
        if Floor.library is None:
            from stepscope.profiler._observer import arguments, compiler

            source = str(Path(__file__).with_name("floor.cpp"))
            words = [*compiler(), *arguments(torch)]
            first = next(i for i, word in enumerate(words) if word.endswith(".cpp"))
            libraries = [word for word in words[first:] if not word.endswith(".cpp")]
            output = Path(tempfile.gettempdir()) / f"floor-{os.getpid()}.so"
            subprocess.run([*words[:first], source, *libraries, "-o", str(output)], check=True)
            Floor.library = ctypes.CDLL(str(output))
            output.unlink()
        Floor.library.floor_on(self.with_inputs)
        return self

    def __exit__(self, *error):
        Floor.library.floor_off()


def called(x):
    return torch.add(x, x)


def work(options, repeats=OPS):
    x = torch.ones(4)
    if "memory" in options:
        for _ in range(repeats):
            torch.add(x, x)  # allocates its result and frees the previous one
    elif "stacks" in options or "sampled" in options:
        for _ in range(repeats):
            called(x)
    else:
        out = torch.empty(4)
        for _ in range(repeats):
            torch.add(x, x, out=out)


def ns_of(options):
    begin = time.thread_time_ns()
    work(options)
    return (time.thread_time_ns() - begin) / OPS


def added(which, options):
    differences, base = [], []
    work(options)
    with profiler(which, options):
        work(options)
    for _ in range(ROUNDS):
        without = ns_of(options)
        with profiler(which, options):
            work(options, 500)  # warm-up: registers names, claims segments
            on = ns_of(options)
        base.append(without)
        differences.append(on - without)
    return {"added": statistics.median(differences), "base": statistics.median(base), "of": differences}


BLOCK_S, BLOCKS, WARM_UP = 0.1, 20, 20


def block(step, steps):
    """CPU time of all threads of this process, and wall time, in ns per step."""
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    for _ in range(steps):
        step()
    return (time.process_time_ns() - cpu) / steps, (time.perf_counter_ns() - wall) / steps


def switch(recording, is_on, on):
    """Goes on with the recording, or pauses it."""
    if is_on == on:
        return
    if isinstance(recording, Floor):
        recording.__enter__() if on else recording.__exit__()
    else:
        recording.toggle_collection_dynamic(on, recording.activities)


def ops_of(step):
    """What one step records, as stepscope counts it: ops, their backward nodes and ranges."""
    from stepscope.profiler import profile

    with profile() as recording:
        step()
    return len(recording.events())


def real(which, options, name):
    """Short blocks with and without recording take turns, on, off, off, on, so that a drift of the machine's speed falls on both."""
    from programs import PROGRAMS

    torch.manual_seed(0)
    step = PROGRAMS[name]()
    steps = max(1, round(BLOCK_S * 1e9 / block(step, WARM_UP)[1]))
    ops = ops_of(step)
    found = {"cpu": [], "wall": [], "base_cpu": [], "base_wall": []}
    with profiler(which, options) as recording:
        block(step, WARM_UP)
        is_on = True
        for _ in range(BLOCKS):
            both = {True: [], False: []}
            for on in (True, False, False, True):
                switch(recording, is_on, on)
                is_on = on
                both[on].append(block(step, steps))
            with_it, without = ([sum(of) / 2 for of in zip(*both[on])] for on in (True, False))
            for at, kind in enumerate(("cpu", "wall")):
                found[kind].append(with_it[at] - without[at])
                found[f"base_{kind}"].append(without[at])
    return {"ops": ops, "steps": steps, **{key: statistics.median(of) for key, of in found.items()}}


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def whole(which, options, count):
    work(options)
    before = resident()
    recording = profiler(which, options)
    recording.__enter__()
    work(options, count)
    held = resident() - before
    begin = time.perf_counter()
    recording.__exit__(None, None, None)
    stopped = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        recording.export_chrome_trace(path)
        exported = time.perf_counter()
        size = os.path.getsize(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    return {"stop_s": stopped - begin, "export_s": exported - stopped, "held": held, "peak": peak, "bytes": size}


def main():
    what, which, options, *count = sys.argv[1:]
    torch.set_num_threads(1)
    options = [] if options == "-" else options.split(",")
    if what == "real":
        print(json.dumps(real(which, options, count[0])))
    else:
        print(json.dumps(added(which, options) if what == "added" else whole(which, options, int(count[0]))))


if __name__ == "__main__":
    main()
