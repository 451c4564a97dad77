"""Asks stepscope about programs that were written without knowledge of its rules, and writes what it says beside what is true.

    unseen.py [--programs NAME,...] [--folder DIR] [--output FILE.json] [--recordings DIR]

programs/NAME holds faulty.py, mended.py and cause.md (maybe "round: ", then "cause: ", "line: ", "fix: ", "words: "). Each program is timed without a
recorder (faulty and mended in turn), then recorded in two ways: `stepscope record` as it comes, and torch.profiler. Writes one JSON file
with the first findings of each; a reader compares them with cause.md. With --recordings, recordings are kept, and those that DIR already
holds are read again, not made again. Needs a Python with torch and stepscope (bench/package.sh).
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "explain"))
import answers  # noqa: E402

ROUNDS = 3
LIMIT_S = 600
SHOWN = 3  # findings


def said(lines, key):
    for line in lines:
        if line.startswith(key):
            return line[len(key):].strip()
    return ""


def all_programs(folder):
    return sorted(one.parent.name for one in folder.glob("*/faulty.py"))


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1][:300])
    return done.stdout.splitlines()


def timed(python, folder, rounds):
    """Median step of the faulty and of the mended program, ms, and their results."""
    taken = {"faulty": [], "mended": []}
    results = {}
    for _ in range(rounds):
        for name in taken:
            lines = run([str(python), f"{name}.py"], folder)
            taken[name].append(float(said(lines, "step_ms=")))
            results[name] = said(lines, "result=")
    return {name: statistics.median(steps) for name, steps in taken.items()}, results


def recorded(python, folder, name, source, scratch):
    """stepscope's answer about one recording of a program, and the step that the program measured while it was recorded (0: not known)."""
    target = scratch / f"{folder.name}-{name}-{source}"
    lines = []
    if source == "record":
        if not target.exists():
            lines = run([str(python.parent / "stepscope"), "record", "-o", str(target), "--", str(python), f"{name}.py"], folder)
        traces = sorted(target.rglob("*.stepscope"))
    else:
        ranks, target = target, target.with_suffix(".json")
        if not ranks.exists() and not target.exists():
            lines = run([str(python), str(HERE / "profiled.py"), str(target), f"{name}.py"], folder)
        target = ranks if ranks.exists() else target
        traces = sorted(ranks.glob("*.json")) or [target]
    answer = answers.answer_of(traces[0] if len(traces) == 1 else target)
    return {"headline": answer.headline, "bound": answer.bound, "step_ms": answer.step / 1e6, "own_step_ms": float(said(lines, "step_ms=") or 0),
            "findings": [{"id": one.rule, "title": one.title, "remedy": one.remedy, "low_ms": one.low / 1e6, "high_ms": one.high / 1e6,
                          "confidence": one.confidence, "notable": answer.notable(one)} for one in answer.found]}


def named_at(answer, line):
    """1 for the first finding whose title has the cause's line; 0 if none has."""
    place = re.compile(rf"\bfaulty\.py:{line.split(' ')[0]}\b")
    return next((i for i, one in enumerate(answer.get("findings", ()), 1) if place.search(one["title"])), 0)


def looked_at(python, folder, scratch, rounds, sources):
    cause = (folder / "cause.md").read_text().splitlines()
    steps, results = timed(python, folder, rounds) if rounds else ({"faulty": 0, "mended": 0}, {})
    entry = {"program": folder.name, "cause": said(cause, "cause:"), "line": said(cause, "line:"), "words": said(cause, "words:"),
             "faulty_ms": steps["faulty"], "mended_ms": steps["mended"], "results": results}
    for source in sources:
        for name in ("faulty", "mended"):
            try:
                entry[f"{name}_{source}"] = recorded(python, folder, name, source, scratch)
            except (RuntimeError, subprocess.SubprocessError, OSError, IndexError) as error:
                entry[f"{name}_{source}"] = {"failed": str(error)}
    entry["line_named_at"] = named_at(entry.get("faulty_record", {}), entry["line"])
    return entry


def shown(entry):
    saving = entry["faulty_ms"] - entry["mended_ms"]
    print(f"\n== {entry['program']}: {entry['faulty_ms']:.1f} ms, mended {entry['mended_ms']:.1f} ms (saves {saving:.1f} ms)")
    print(f"   cause: {entry['cause']}\n   line:  {entry['line']}\n   words: {entry['words']}")
    print(f"   its line is in finding: {entry['line_named_at'] or 'none'}")
    for source in ("record", "torch"):
        for name in ("faulty", "mended"):
            answer = entry.get(f"{name}_{source}")
            if answer is None:
                continue
            if "failed" in answer:
                print(f"   {source} {name}: FAILED {answer['failed']}")
                continue
            print(f"   {source} {name}: {answer['headline']}")
            for one in answer["findings"][:SHOWN]:
                print(f"      {one['id']} {one['low_ms']:.1f}-{one['high_ms']:.1f} ms ({one['confidence']}"
                      f"{', notable' if one['notable'] else ''}): {one['title']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="", help="names, e.g. server,tabular; without it all")
    parser.add_argument("--folder", type=Path, default=HERE / "programs")
    parser.add_argument("--python", type=Path, default=ROOT / "build" / "bench-venv" / "bin" / "python")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each script without a recorder; 0: none")
    parser.add_argument("--recordings", type=Path, help="keep recordings here, and read again those that are here")
    parser.add_argument("--sources", default="record,torch", help="which recordings")
    parser.add_argument("--program", type=Path, default=answers.PROGRAM, help="the stepscope to ask")
    parser.add_argument("--output", type=Path, default=HERE / "looked.json")
    options = parser.parse_args()
    answers.PROGRAM = options.program.resolve()
    names = options.programs.split(",") if options.programs else all_programs(options.folder)
    os.environ.setdefault("PYTHONHASHSEED", "0")
    entries = []
    with tempfile.TemporaryDirectory() as made:
        scratch = options.recordings or Path(made)
        scratch.mkdir(parents=True, exist_ok=True)
        for name in names:
            try:
                entries.append(looked_at(options.python, (options.folder / name).resolve(), scratch.resolve(), options.rounds, options.sources.split(",")))
            except (RuntimeError, subprocess.SubprocessError, OSError, ValueError) as error:
                print(f"\n== {name}: FAILED {error}")
                continue
            shown(entries[-1])
            sys.stdout.flush()
    options.output.write_text(json.dumps(entries, indent=1) + "\n")


if __name__ == "__main__":
    main()
