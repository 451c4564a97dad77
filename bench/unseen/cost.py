"""What `stepscope record` as it comes adds to the programs of bench/unseen.

    cost.py [--programs NAME,...] [--rounds N] [--output FILE.md]

Runs each faulty.py plain and recorded in turn, and compares the median steps that the program itself prints. The cost is the median
over the rounds of recorded ÷ plain − 1; the range is that of the rounds. Needs a Python with torch and stepscope (bench/package.sh).
"""
import argparse
import datetime
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import unseen

HERE = Path(__file__).resolve().parent


def step_ms(command, folder):
    return float(unseen.said(unseen.run(command, folder), "step_ms="))


def cost_of(python, folder, rounds):
    """(plain ms, recorded ÷ plain − 1 of each round)."""
    plain, costs = [], []
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as scratch:
            record = [str(python.parent / "stepscope"), "record", "-o", f"{scratch}/run", "--", str(python), "faulty.py"]
            pair = {}
            for name in ("plain", "recorded")[:: 1 if number % 2 == 0 else -1]:
                pair[name] = step_ms(record if name == "recorded" else [str(python), "faulty.py"], folder)
        plain.append(pair["plain"])
        costs.append(pair["recorded"] / pair["plain"] - 1)
    return statistics.median(plain), costs


def document(rows, rounds):
    costs = [statistics.median(costs) for _, _, costs in rows]
    lines = ["# What recording by default costs", "",
             f"Written by `bench/unseen/cost.py --rounds {rounds}` on {datetime.date.today().isoformat()}. The median program's steps are "
             f"{100 * statistics.median(costs):+.1f} % longer under `stepscope record`; {sum(cost < 0.03 for cost in costs)} of {len(costs)} "
             "are less than 3 % longer. The range is that of the rounds: runs on a shared machine differ by as much.", "",
             "| program | step, ms | recorded, % | lowest | highest |", "|---|---:|---:|---:|---:|"]
    for name, plain, costs in sorted(rows):
        lines.append(f"| {name} | {plain:.1f} | {100 * statistics.median(costs):+.1f} | {100 * min(costs):+.1f} | {100 * max(costs):+.1f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="", help="names, e.g. server,tabular; without it all")
    parser.add_argument("--python", type=Path, default=unseen.ROOT / "build" / "bench-venv" / "bin" / "python")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=HERE / "COST.md")
    options = parser.parse_args()
    rows = []
    for name in options.programs.split(",") if options.programs else unseen.all_programs(HERE / "programs"):
        try:
            rows.append((name, *cost_of(options.python, HERE / "programs" / name, options.rounds)))
        except (RuntimeError, subprocess.SubprocessError, OSError, ValueError) as error:
            print(f"{name}: FAILED {error}", file=sys.stderr)
            continue
        print(f"{name}: {rows[-1][1]:.1f} ms, {', '.join(f'{100 * cost:+.1f} %' for cost in rows[-1][2])}", file=sys.stderr, flush=True)
    options.output.write_text(document(rows, options.rounds))


if __name__ == "__main__":
    main()
