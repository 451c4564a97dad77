"""What `stepscope record` as it comes adds to the programs of bench/unseen.

    cost.py [--programs NAME,...] [--rounds N] [--output FILE.md]

Runs each faulty.py plain, recorded, recorded, plain, and again for each round, and reads the median step that the program itself prints.
A round's cost is the sum of its two recorded steps ÷ the sum of its two plain ones − 1; a program's cost is the median over the rounds.
Beside it stands the CPU time of the whole process, likewise: it also holds the start of the recorder and the writing of the file. The
noise is the median over the rounds of the difference between the two plain steps, as a share of the smaller one. Needs a Python with
torch and stepscope (bench/package.sh).
"""
import argparse
import datetime
import os
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
    plain_cpu: list = field(default_factory=list)  # s of CPU time per run, two a round
    recorded_cpu: list = field(default_factory=list)

    def costs(self):
        return ratios(self.recorded, self.plain)

    def cost(self):
        return statistics.median(self.costs())

    def cpu_cost(self):
        return statistics.median(ratios(self.recorded_cpu, self.plain_cpu))

    def noise(self):
        return statistics.median(max(pair) / min(pair) - 1 for pair in pairs(self.plain))


def pairs(values):
    return list(zip(values[::2], values[1::2]))


def ratios(of, to):
    return [sum(a) / sum(b) - 1 for a, b in zip(pairs(of), pairs(to))]


def one_run(command, folder):
    """(ms per step, s of CPU time)."""
    before = os.times()
    step = float(unseen.said(unseen.run(command, folder), "step_ms="))
    after = os.times()
    return step, after.children_user + after.children_system - before.children_user - before.children_system


def measured(python, folder, rounds):
    program = Program(folder.name)
    plain = [str(python), "faulty.py"]
    for way in ORDER * rounds:
        with tempfile.TemporaryDirectory() as scratch:
            record = [str(python.parent / "stepscope"), "record", "-o", f"{scratch}/run", "--"]
            step, cpu = one_run(plain if way == "plain" else record + plain, folder)
        (program.plain if way == "plain" else program.recorded).append(step)
        (program.plain_cpu if way == "plain" else program.recorded_cpu).append(cpu)
    return program


def said(share):
    return f"{100 * share:+.1f}"


def document(programs, rounds):
    costs = sorted(program.cost() for program in programs)
    all_rounds = sorted(cost for program in programs for cost in program.costs())
    lines = ["# What recording by default costs", "",
             f"Written by `bench/unseen/cost.py --rounds {rounds}` on {datetime.date.today().isoformat()}, {len(programs)} programs, each run {4 * rounds} times. "
             f"The median program's steps are {said(statistics.median(costs))} % longer under `stepscope record` ({said(statistics.median(all_rounds))} % over "
             f"single rounds); {sum(cost < 0.03 for cost in costs)} of {len(costs)} are less than 3 % longer. Two plain runs of the same program differ by "
             f"{100 * statistics.median(program.noise() for program in programs):.1f} % (median), so single programs are known no better than that.", "",
             "CPU time is that of the whole run, with the start of the recorder and the writing of the file.", "",
             "| program | step, ms | recorded, % | lowest | highest | CPU time, % | plain runs differ, % |", "|---|---:|---:|---:|---:|---:|---:|"]
    for program in sorted(programs, key=lambda program: program.name):
        lines.append(f"| {program.name} | {statistics.median(program.plain):.1f} | {said(program.cost())} | {said(min(program.costs()))} | "
                     f"{said(max(program.costs()))} | {said(program.cpu_cost())} | {100 * program.noise():.1f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="", help="names, e.g. server,tabular; without it all")
    parser.add_argument("--python", type=Path, default=unseen.ROOT / "build" / "bench-venv" / "bin" / "python")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--output", type=Path, default=HERE / "COST.md")
    options = parser.parse_args()
    programs = []
    for name in options.programs.split(",") if options.programs else unseen.all_programs(HERE / "programs"):
        try:
            program = measured(options.python, HERE / "programs" / name, options.rounds)
        except (RuntimeError, subprocess.SubprocessError, OSError, ValueError) as error:
            print(f"{name}: FAILED {error}", file=sys.stderr)
            continue
        programs.append(program)
        print(f"{name}: {statistics.median(program.plain):.1f} ms, {', '.join(said(cost) + ' %' for cost in program.costs())}; "
              f"CPU {said(program.cpu_cost())} %; noise {100 * program.noise():.1f} %", file=sys.stderr, flush=True)
        options.output.write_text(document(programs, options.rounds))


if __name__ == "__main__":
    main()
