"""What `stepscope record` as it comes adds to the programs of bench/unseen.

    cost.py [--programs NAME,...] [--rounds N] [--keep FILE.json] [--output FILE.md]

Runs each faulty.py plain, recorded, recorded, plain, and again for each round, and reads the median step that the program itself prints.
A round's cost is the sum of its two recorded steps ÷ the sum of its two plain ones − 1; a program's cost is the median over the rounds.
The noise is the median over the rounds of the difference between the two plain steps, as a share of the smaller one. --keep adds the
steps to those of earlier calls. Needs a Python with torch and stepscope (bench/package.sh).
"""
import argparse
import datetime
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import unseen

HERE = Path(__file__).resolve().parent
ORDER = ("plain", "recorded", "recorded", "plain")


@dataclass
class Program:
    name: str
    plain: list = field(default_factory=list)  # ms per step, two a round
    recorded: list = field(default_factory=list)

    def costs(self):
        return [sum(with_it) / sum(without) - 1 for with_it, without in zip(pairs(self.recorded), pairs(self.plain))]

    def cost(self):
        return statistics.median(self.costs())

    def noise(self):
        return statistics.median(max(pair) / min(pair) - 1 for pair in pairs(self.plain))


def pairs(values):
    return list(zip(values[::2], values[1::2]))


def measure(program, python, folder, rounds):
    plain = [str(python), "faulty.py"]
    for way in ORDER * rounds:
        with tempfile.TemporaryDirectory() as scratch:
            record = [str(python.parent / "stepscope"), "record", "-o", f"{scratch}/run", "--"]
            lines = unseen.run(plain if way == "plain" else record + plain, folder)
        (program.plain if way == "plain" else program.recorded).append(float(unseen.said(lines, "step_ms=")))


def said(share):
    return f"{100 * share:+.1f}"


def document(programs):
    costs = [program.cost() for program in programs]
    runs = sum(len(program.plain) + len(program.recorded) for program in programs)
    lines = ["# What recording by default costs", "",
             f"Written by `bench/unseen/cost.py` on {datetime.date.today().isoformat()}: {len(programs)} programs, {runs} runs. "
             f"The median program's steps are {100 * statistics.median(costs):.1f} % longer under `stepscope record`; {sum(cost < 0.03 for cost in costs)} of "
             f"{len(costs)} are less than 3 % longer. Two plain runs of the same program differ by "
             f"{100 * statistics.median(program.noise() for program in programs):.1f} % (median), so single programs are known no better than that.", "",
             "| program | step, ms | recorded, % | lowest | highest | rounds | plain runs differ, % |", "|---|---:|---:|---:|---:|---:|---:|"]
    for program in sorted(programs, key=lambda program: program.name):
        lines.append(f"| {program.name} | {statistics.median(program.plain):.1f} | {said(program.cost())} | {said(min(program.costs()))} | "
                     f"{said(max(program.costs()))} | {len(program.costs())} | {100 * program.noise():.1f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="", help="names, e.g. server,tabular; without it all")
    parser.add_argument("--python", type=Path, default=unseen.ROOT / "build" / "bench-venv" / "bin" / "python")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--output", type=Path, default=HERE / "COST.md")
    options = parser.parse_args()
    kept = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else {}
    for name in options.programs.split(",") if options.programs else unseen.all_programs(HERE / "programs"):
        program = Program(name, **kept.get(name, {}))
        try:
            measure(program, options.python, HERE / "programs" / name, options.rounds)
        except (RuntimeError, subprocess.SubprocessError, OSError, ValueError) as error:
            print(f"{name}: FAILED {error}", file=sys.stderr)
            continue
        kept[name] = {"plain": program.plain, "recorded": program.recorded}
        print(f"{name}: {statistics.median(program.plain):.1f} ms, {', '.join(said(cost) + ' %' for cost in program.costs())}; "
              f"noise {100 * program.noise():.1f} %", file=sys.stderr, flush=True)
        if options.keep:
            options.keep.write_text(json.dumps(kept, indent=1))
        options.output.write_text(document([Program(name, **steps) for name, steps in kept.items()]))


if __name__ == "__main__":
    main()
