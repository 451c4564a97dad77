"""Are the answers about many ranks the same when the files are read one by one? Simulates a job and asks every analysis, and
`report`, both ways; then does the same for a folder whose files have no rank number.

    check_by_rank.py STEPSCOPE MAKE_TRACE FOLDER [TRACES…]

TRACES: recorded folders to check as well, if they exist.
"""

import json
import pathlib
import shutil
import subprocess
import sys

ALONE = {"event"}  # needs the event to show
# Results of replaying all ranks together: tables and columns of `stragglers`, rules, and values that depend on their savings.
TOGETHER = {"cost", "cost_low", "cost_high", "cost_by", "Imbalance", "If transfers took less"}
RULES = {"N01", "N05"}
SAVINGS = {"rank", "after_low", "after_high", "together_low", "together_high"}


def said(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def analyses(stepscope):
    table = json.loads(said(stepscope, "list", "--format", "json")[1])["tables"][0]
    return [row[0] for row in table["rows"] if row[0] not in ALONE]


def without_replay(text):
    """The answer without the results of replaying all ranks together, which needs all their events."""
    def kept(report):
        advice = report["report"] != "stragglers"
        for table in report["tables"]:
            names = [column["name"] for column in table["columns"]]
            if advice and "id" in names:
                table["rows"] = [row for row in table["rows"] if row[names.index("id")] not in RULES]
            keep = [i for i, name in enumerate(names) if name not in (SAVINGS if advice else TOGETHER)]
            table["rows"] = [[row[i] for i in keep] for row in table["rows"]]
            table["columns"] = [table["columns"][i] for i in keep]
        report["tables"] = [table for table in report["tables"] if table["title"] not in TOGETHER]
        report["notes"] = [note for note in report["notes"] if "shorter." not in note and "gains nothing" not in note]
        return report

    answer = json.loads(text)
    reports = answer["reports"] if "reports" in answer else [answer]
    return [kept(report) if report["report"] in ("stragglers", "verdict", "findings") else report
            for report in reports if report["report"] != "whatif"]


def differing(stepscope, folder, names, flags=()):
    wrong = []
    for name in names:
        question = ["report"] if name == "report" else ["show", name]
        asked = [stepscope, *question, folder, "--format", "json", *flags]
        whole, by_rank = said(*asked), said(*asked, "--by-rank")
        if whole[0] != 0 or len(whole[1]) < 100:
            wrong.append(f"{name} {folder} {' '.join(flags)}: no answer at all: {whole[2].strip()}")
        elif whole != by_rank and (name not in ("stragglers", "report", "findings") or whole[2] != by_rank[2]
                                   or without_replay(whole[1]) != without_replay(by_rank[1])):
            wrong.append(f"{name} {folder} {' '.join(flags)}: {len(whole[1])} bytes as one, {len(by_rank[1])} by rank; {by_rank[2].strip()}")
    return wrong


def main(stepscope, make_trace, folder, *recorded):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    job, slow, nameless, pipes = folder / "job", folder / "slow", folder / "nameless", folder / "pipes"
    nameless.mkdir(parents=True)
    for place, planted in (job, []), (slow, ["--straggler", "3:9:input"]):
        subprocess.run([make_trace, "--ranks", "5", "--ranks-per-host", "2", "--steps", "5", "--layers", "3", "--shapes", "--stacks",
                        "--memory", "--clock-skew", "20000", *planted, "--out", str(place)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([make_trace, "--ranks", "6", "--stages", "2", "--micro-batches", "3", "--layers", "4", "--out", str(pipes)],
                   check=True, stdout=subprocess.DEVNULL)
    for i, file in enumerate(sorted(job.iterdir())):
        trace = json.loads(file.read_text())
        trace["distributedInfo"]["rank"] = 0
        (nameless / f"{'abcde'[i]}.json").write_text(json.dumps(trace))
    (nameless / "f.json").write_text("no trace")
    mixed, single = folder / "mixed", folder / "single"
    for place in (mixed, single):
        place.mkdir()
    files = sorted(job.iterdir())
    subprocess.run([stepscope, "merge", *files[:3], "-o", mixed / "some.json"], check=True, capture_output=True)
    for file in files[3:]:
        shutil.copy(file, mixed)
    shutil.copy(files[0], single)
    (single / "empty.json").write_text("")
    names = analyses(stepscope) + ["report"]
    wrong = differing(stepscope, job, names)
    for place in (mixed, single):
        wrong += differing(stepscope, place, ["overview", "kernels", "steps", "findings"])
    wrong += differing(stepscope, slow, ["stragglers", "clock_alignment", "steps"])
    wrong += differing(stepscope, pipes, ["pipeline", "stragglers", "clock_alignment", "copies", "report"])
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
