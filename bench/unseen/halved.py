"""Whether the first finding stays when recording costs less: faulty.py of each program as it comes, and with --shapes none.

    halved.py [--programs NAME,...] [--folder DIR] [--recordings DIR] [--output FILE.md]

Shapes are more than half of what recording short operators costs. The first finding stays if its rule and its place, or its whole title without
places, are the same. With --recordings, the recordings that unseen.py kept there are those "as it comes".
"""
import argparse
import datetime
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import unseen

import answers

HERE = Path(__file__).resolve().parent


def recorded(python, folder, target, options):
    """The answer about a recording of faulty.py, and the median step that the program printed; 0 if the recording was there."""
    lines = []
    if not target.exists():
        lines = unseen.run([str(python.parent / "stepscope"), "record", *options, "-o", str(target), "--", str(python), "faulty.py"], folder)
    traces = sorted(target.rglob("*.stepscope"))
    return answers.answer_of(traces[0] if len(traces) == 1 else target), float(unseen.said(lines, "step_ms=") or 0)


def first_of(answer):
    """"H11 at faulty.py:66", or the rule alone."""
    if not answer.found:
        return "none"
    place = re.search(r"\bfaulty\.py:\d+", answer.found[0].title)
    return answer.found[0].rule + (f" at {place.group(0)}" if place else "")


def document(rows):
    same = sum(whole == half for _, whole, half, _ in rows)
    rule = sum(whole.split(" ")[0] == half.split(" ")[0] for _, whole, half, _ in rows)
    lines = ["# Findings at half the cost", "",
             f"Written by `bench/unseen/halved.py` on {datetime.date.today().isoformat()}. Without shapes, the first finding of {rule} of {len(rows)} programs "
             f"is of the same rule, and of {same} at the same line, too.", "",
             "| program | as it comes | with --shapes none | own step without shapes, ms |", "|---|---|---|---:|"]
    lines += [f"| {name} | {whole} | {half} | {step:.1f} |" for name, whole, half, step in sorted(rows)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="", help="names, e.g. server,tabular; without it all")
    parser.add_argument("--folder", type=Path, default=HERE / "programs")
    parser.add_argument("--python", type=Path, default=unseen.ROOT / "build" / "bench-venv" / "bin" / "python")
    parser.add_argument("--recordings", type=Path, help="keep recordings here, and read again those that are here")
    parser.add_argument("--program", type=Path, default=answers.PROGRAM, help="the stepscope to ask")
    parser.add_argument("--output", type=Path, default=HERE / "HALVED.md")
    options = parser.parse_args()
    answers.PROGRAM = options.program.resolve()
    rows = []
    with tempfile.TemporaryDirectory() as made:
        scratch = (options.recordings or Path(made)).resolve()
        for name in options.programs.split(",") if options.programs else unseen.all_programs(options.folder):
            folder = (options.folder / name).resolve()
            try:
                whole, _ = recorded(options.python, folder, scratch / f"{name}-faulty-record", [])
                half, step = recorded(options.python, folder, scratch / f"{name}-faulty-no_shapes", ["--shapes", "none"])
            except (RuntimeError, subprocess.SubprocessError, OSError, ValueError) as error:
                print(f"{name}: FAILED {error}", file=sys.stderr)
                continue
            rows.append((name, first_of(whole), first_of(half), step))
            print(rows[-1], flush=True)
    options.output.write_text(document(rows))


if __name__ == "__main__":
    main()
