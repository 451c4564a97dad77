"""Runs `stepscope try` on programs of this folder, and writes promised and measured savings into one table.

    trials.py [--programs NAME,...] [--seconds S] [--all] [--output FILE.md] [--keep FILE.json]

Runs each faulty.py plain once and then under `stepscope try`, and compares the result that the program prints: trials must not change it.
The answers are kept as JSON (--keep) after each program, and programs that it already holds are not run again. Needs a Python with torch and
stepscope (bench/package.sh).
"""
import argparse
import datetime
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import unseen

HERE = Path(__file__).resolve().parent
TOLERANCE = 1e-3  # of the result
CHOSEN = ("arm_reach", "bridge_sensors", "char_lm", "clinic_mlm", "craft_shop", "crop_yields", "diffusion", "evaluate_often", "graph_net",
          "gru_loop", "heart_beats", "image_files", "kiln_yield", "leaf_photos", "leaf_spots", "recommender", "server", "speech", "tabular",
          "two_ranks")
LIMIT_S = 1800


def environment():
    return {**os.environ, "OMP_WAIT_POLICY": "passive", "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}


def plain(python, folder):
    done = subprocess.run([str(python), "faulty.py"], cwd=folder, env=environment(), capture_output=True, text=True, timeout=LIMIT_S, check=True)
    return unseen.said(done.stdout.splitlines(), "result=")


def tried(python, folder, options):
    """The answer of `stepscope try` as JSON, with the program's own result and the seconds it all took."""
    with tempfile.TemporaryDirectory() as scratch:
        answer = Path(scratch) / "answer.json"
        command = [str(python.parent / "stepscope"), "try", "--format", "json", "-o", str(answer), "--seconds", str(options.seconds)]
        command += (["--all"] if options.all else []) + ["--", str(python), "faulty.py"]
        begun = time.monotonic()
        done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=LIMIT_S, check=False)
        said = json.loads(answer.read_text()) if answer.exists() else {"trials": [], "not_tried": [], "notes": [done.stderr[-300:]]}
    said["code"], said["took_s"] = done.returncode, time.monotonic() - begun
    said["result"] = unseen.said(done.stdout.splitlines(), "result=")
    return said


def is_same(one, other):
    """Whether two printed results agree: the text, or numbers within the tolerance."""
    try:
        a, b = float(one), float(other)
    except ValueError:
        return bool(one) and one == other
    return a == b or math.isclose(a, b, rel_tol=TOLERANCE)


def ms(value):
    return "–" if value is None else f"{value / 1e6:.3g}"


def rows_of(name, said):
    rows = []
    for one in said["trials"]:
        promised = one["promised_ns"]
        told = f"{ms(promised[0])} – {ms(promised[1])}" if promised else "–"
        if "failed" in one:
            rows.append(f"| {name} | {one['name']} | {told} | failed: {one['failed'][:160].replace('|', '/')} | | |")
            continue
        verdict = "" if one["won"] else " (not sure)" if one["high_ns"] > 0 else " (slower)"
        measured = f"{ms(one['saved_ns'])} ({ms(one['low_ns'])} – {ms(one['high_ns'])}) of {ms(one['step_ns'])}{verdict}"
        before, after = (value / 2**20 for value in one["memory_bytes"])
        rows.append(f"| {name} | {one['name']} | {told} | {measured} | {one['loss']} | {before:.0f} → {after:.0f} |")

    return rows or [f"| {name} | none | | | | |"]


def inside(one):
    """Whether the measured interval and the promised range overlap."""
    promised = one["promised_ns"]
    return promised is not None and one["low_ns"] <= promised[1] and one["high_ns"] >= promised[0]


def document(kept, seconds):
    singles = [one for said in kept.values() for one in said["trials"] if "failed" not in one and len(one["changes"]) == 1]
    sure = [one for one in singles if one["won"]]
    promised = [one for one in sure if one["promised_ns"]]
    same = sum(is_same(said["plain"], said["result"]) for said in kept.values())
    failed = sum("failed" in one for said in kept.values() for one in said["trials"])
    lines = ["# What changes from outside save", "",
             f"Written by `bench/unseen/trials.py --seconds {seconds}` on {datetime.date.today().isoformat()}, {os.cpu_count()} cores, no GPU. "
             f"{len(kept)} programs, {len(singles)} changes measured alone, {failed} trials failed. {len(sure)} saved time for sure. "
             f"The report had promised a range for {len(promised)} of these; the measured interval overlaps it in {sum(map(inside, promised))}. "
             f"The program's own result is unchanged in {same} of {len(kept)}, within {100 * TOLERANCE:.1f} %. Other jobs ran on the machine.", "",
             "## Promised and measured", "", "Milliseconds per step, memory in MiB.", "",
             "| program | change | promised | measured | loss | memory |", "|---|---|---|---|---|---|"]
    for name in sorted(kept):
        lines += rows_of(name, kept[name])
    lines += ["", "## The programs' own results", "", "| program | alone | under try | same | exit code | seconds |", "|---|---|---|---|---:|---:|"]
    for name, said in sorted(kept.items()):
        lines.append(f"| {name} | {said['plain']} | {said['result']} | {'yes' if is_same(said['plain'], said['result']) else 'NO'} | {said['code']} | "
                     f"{said['took_s']:.0f} |")
    lines += ["", "## Not tried", "", "| program | rule or change | why |", "|---|---|---|"]
    for name, said in sorted(kept.items()):
        lines += [f"| {name} | {one['what']} | {one['reason'][:240].replace('|', '/')} |" for one in said["not_tried"]]
        lines += [f"| {name} | | {note[:240].replace('|', '/')} |" for note in said["notes"]]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="", help="names, e.g. server,tabular; without it the twenty of CHOSEN")
    parser.add_argument("--python", type=Path, default=unseen.ROOT / "build" / "bench-venv" / "bin" / "python")
    parser.add_argument("--seconds", type=int, default=30, help="of each trial")
    parser.add_argument("--all", action="store_true", help="also changes that no finding asks for")
    parser.add_argument("--output", type=Path, default=HERE / "TRIALS.md")
    parser.add_argument("--keep", type=Path, default=unseen.ROOT / "build" / "trials.json")
    options = parser.parse_args()
    options.python = options.python.absolute()
    kept = json.loads(options.keep.read_text()) if options.keep.exists() else {}
    for name in options.programs.split(",") if options.programs else CHOSEN:
        if name not in kept:
            folder = HERE / "programs" / name
            try:
                kept[name] = {"plain": plain(options.python, folder), **tried(options.python, folder, options)}
            except (subprocess.SubprocessError, OSError, ValueError) as error:
                print(f"{name}: FAILED {error}", file=sys.stderr)
                continue
            options.keep.write_text(json.dumps(kept, indent=1))
        print("\n".join(rows_of(name, kept[name])), flush=True)
        options.output.write_text(document(kept, options.seconds))


if __name__ == "__main__":
    main()
