#!/usr/bin/env python3
"""What annotations of stepscope.io cost, in nanoseconds per range: without the bare call, loop or block's own time.

  python3 bench/annotations.py [--rounds N] [FOLDER …]

Prints the least and the median of many short loops, recorded and not recorded. With folders, each holds a package `stepscope`; they
take turns, so that whatever else the machine does hits all of them. Without, the installed package is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

CALLS, LOOPS = 400, 100  # so that a recording of all forms is not full


def timed(function):
    """Nanoseconds per call of `function`, which repeats something CALLS times."""
    begin = time.perf_counter_ns()
    function()
    return (time.perf_counter_ns() - begin) / CALLS


def forms():
    """Of each name: a function that repeats the annotated thing, and one that repeats the bare thing."""
    from stepscope.io import ai, dft_fn

    io, off = dft_fn("data"), dft_fn("data", enable=False)
    forward = ai.compute.forward
    repeat = range(CALLS)

    def nothing():
        pass

    def of_step(step):
        pass

    class Reader:
        def __init__(self):
            self.epoch = 2

        def bare(self, image_idx):
            pass

        @io.log
        def read(self, image_idx):
            pass

    reader = Reader()
    io_nothing, io_step, off_nothing = io.log(nothing), io.log(of_step), off.log(nothing)

    def empty_loop():
        for _ in repeat:
            pass

    def call(function):
        def loop():
            for _ in repeat:
                function()

        return loop

    def call_step(function):
        def loop():
            for number in repeat:
                function(number)

        return loop

    def block():
        for _ in repeat:
            with io:
                pass

    def node():
        for _ in repeat:
            with forward:
                pass

    def node_from_the_tree():
        for _ in repeat:
            with ai.compute.forward:
                pass

    def node_with_step():
        for number in repeat:
            with forward(step=number):
                pass

    def block_made():
        for number in repeat:
            with dft_fn("data", name="decode", step=number):
                pass

    def updated():
        for number in repeat:
            with io as one:
                one.update(step=number)

    def updated_much():
        for number in repeat:
            with io as one:
                one.update(step=number, args={"bytes": 4096, "path": "train/0001.npz", "loss": 0.25})

    def items():
        for _ in io.iter(repeat):
            pass

    @io.log
    def made_items(step):
        yield from repeat

    def bare_items(step):
        yield from repeat

    def from_generator(function):
        def loop():
            for _ in function(1):
                pass

        return loop

    @io.log
    async def io_async(step):
        pass

    async def bare_async(step):
        pass

    def awaited(function):
        async def all_of():
            for number in repeat:
                await function(number)

        def loop():
            with contextlib.suppress(StopIteration):
                all_of().send(None)

        return loop

    def started():
        for _ in repeat:
            forward.start()
            forward.stop()

    return {
        "decorator of a function without such arguments": (call(io_nothing), call(nothing)),
        "decorator of a function with the argument `step`": (call_step(io_step), call_step(of_step)),
        "decorator of a method with `image_idx`, and `self.epoch`": (call_step(reader.read), call_step(reader.bare)),
        "`with io:`": (block, empty_loop),
        "`with io:` and one `update(step=…)`": (updated, empty_loop),
        "the same, with three more `args`: an int, a text, a float": (updated_much, empty_loop),
        "`with ai.compute.forward:`": (node_from_the_tree, empty_loop),
        "`forward = ai.compute.forward`, `with forward:`": (node, empty_loop),
        "`with forward(step=…):`": (node_with_step, empty_loop),
        "`forward.start()` and `.stop()`": (started, empty_loop),
        "`with dft_fn(\"data\", name=\"decode\", step=…):`": (block_made, empty_loop),
        "`io.iter(items)`, two ranges per item": (items, empty_loop),
        "decorated generator, per item": (from_generator(made_items), from_generator(bare_items)),
        "decorated coroutine": (awaited(io_async), awaited(bare_async)),
        "decorator with `enable=False`": (call(off_nothing), call(nothing)),
    }  # fmt: skip


def measure():
    """One round: nanoseconds of each loop of each form, recorded and not, without the least of the bare loops."""
    from stepscope.io import finalize, initialize_log

    out = {}
    for is_recorded in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            if is_recorded:
                initialize_log(os.path.join(folder, "run"))
            for name, (annotated, bare) in forms().items():
                annotated()
                least = min(timed(bare) for _ in range(LOOPS))
                out[f"{name}|{is_recorded}"] = [timed(annotated) - least for _ in range(LOOPS)]
            finalize()
    return out


def table(rounds):
    print("| annotation | recorded: least | median | not recorded: least | median |\n|---|---|---|---|---|")
    for name in dict.fromkeys(key.split("|")[0] for key in rounds[0]):
        cells = []
        for is_recorded in (True, False):
            values = [value for one in rounds for value in one[f"{name}|{is_recorded}"]]
            cells += [max(0, round(min(values))), max(0, round(statistics.median(values)))]
        print(f"| {name} | {' | '.join(map(str, cells))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("folders", nargs="*")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure()))
        return
    rounds = {folder: [] for folder in asked.folders or [None]}
    for _ in range(asked.rounds):
        for folder, done in rounds.items():
            environment = {**os.environ, **({"PYTHONPATH": folder} if folder else {})}
            printed = subprocess.run([sys.executable, __file__, "--one"], env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
            done.append(json.loads(printed))
    for folder, done in rounds.items():
        print(f"\n{folder or 'the installed package'}, Python {sys.version.split()[0]}, {len(done)} rounds\n")
        table(done)


if __name__ == "__main__":
    main()
