"""Are the answers about many ranks the same when the files are read one by one? Simulates a job and asks every analysis, and
`report`, both ways; then a folder whose files do not say which rank they are.

    check_by_rank.py STEPSCOPE MAKE_TRACE FOLDER [TRACES…]

TRACES: recorded folders to ask too, those that are there.
"""

import json
import pathlib
import shutil
import subprocess
import sys

ALONE = {"event"}  # needs to be told which


def said(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def analyses(stepscope):
    table = json.loads(said(stepscope, "list", "--format", "json")[1])["tables"][0]
    return [row[0] for row in table["rows"] if row[0] not in ALONE]


def differing(stepscope, folder, names, flags=()):
    wrong = []
    for name in names:
        question = ["report"] if name == "report" else ["show", name]
        asked = [stepscope, *question, folder, "--format", "json", *flags]
        whole, by_rank = said(*asked), said(*asked, "--by-rank")
        if whole[0] != 0 or len(whole[1]) < 100:
            wrong.append(f"{name} {folder} {' '.join(flags)}: no answer at all: {whole[2].strip()}")
        elif whole != by_rank:
            wrong.append(f"{name} {folder} {' '.join(flags)}: {len(whole[1])} bytes as one, {len(by_rank[1])} by rank; {by_rank[2].strip()}")
    return wrong


def main(stepscope, make_trace, folder, *recorded):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    job, nameless = folder / "job", folder / "nameless"
    for place in (job, nameless):
        place.mkdir(parents=True)
    subprocess.run([make_trace, "--ranks", "5", "--ranks-per-host", "2", "--steps", "5", "--layers", "3", "--shapes", "--stacks",
                    "--memory", "--straggler", "3:9:input", "--clock-skew", "20000", "--out", str(job)],
                   check=True, stdout=subprocess.DEVNULL)
    for i, file in enumerate(sorted(job.iterdir())):
        trace = json.loads(file.read_text())
        trace["distributedInfo"]["rank"] = 0
        (nameless / f"{'abcde'[i]}.json").write_text(json.dumps(trace))
    (nameless / "f.json").write_text("no trace")
    names = analyses(stepscope) + ["report"]
    wrong = differing(stepscope, job, names)
    wrong += differing(stepscope, job, ["kernels", "steps", "report"], ["--step", "2-3"])
    wrong += differing(stepscope, job, ["kernels", "findings"], ["--top", "3"])
    wrong += differing(stepscope, job, ["operators"], ["--sort", "calls", "--top", "7"])
    wrong += differing(stepscope, nameless, ["overview", "stragglers", "findings", "report"])
    for traces in recorded:
        if pathlib.Path(traces).is_dir():
            wrong += differing(stepscope, traces, names)
        else:
            print(f"skipped: {traces} is absent: recordings are not part of the project")
    print("\n".join(wrong) if wrong else f"{len(names)} answers, the same both ways")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
