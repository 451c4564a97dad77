"""Jobs with one to three faults at once: is each answered rightly, or refused?

    bench/random_jobs.py [STEPSCOPE MAKE_TRACE] [--jobs N] [--first-seed N] > bench/JOBS.md

Each job is simulated by make_trace: 8 or 16 ranks, clocks that differ, noise. A slow rank is simulated, all other faults are
made in the files. What is right for each fault: RIGHT below. An answer is refused if it says so instead; all else is wrong.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

PARTS = {"input": {"input"}, "host": {"host", "python"}, "compute": {"compute"}}
JUMP_US = 30_000
HOUR_NS = 3600 * 10**9
RIGHT = {
    "slow rank": "`stragglers` names this rank, its part and every step, and no other",
    "slow step": "`stragglers` names this rank, its part and this step, and no other",
    "no slow rank": "`stragglers` names none",
    "copied file": "a note names the copy, and all ranks keep their numbers",
    "second run": "the newer run is read, and a note says that there are two",
    "foreign rank": "its clock is left out with a reason, and the others' are aligned",
    "missing ranks": "a note names them; no rate of a collective is given; N01 promises nothing for sure",
    "clock jump": "the clock is left out as one that jumps, and the others' are aligned",
}


def asked(stepscope, folder, analysis):
    done = subprocess.run([stepscope, "show", analysis, folder, "--format", "json"], check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    for table in answer["tables"]:
        names = [column["name"] for column in table["columns"]]
        table["rows"] = [dict(zip(names, row)) for row in table["rows"]]
    return answer


def simulate(make_trace, folder, seed, ranks, *words):
    folder.mkdir(parents=True)
    subprocess.run([make_trace, "--ranks", str(ranks), "--steps", "10", "--layers", "2", "--noise", "1", "--clock-skew", "200000",
                    "--clock-drift", "20", "--seed", str(seed), "--out", str(folder), *words], check=True, stdout=subprocess.DEVNULL)


def moved(text, nanoseconds):
    """The same file, recorded that much later."""
    return re.sub(r'("baseTimeNanoseconds": )(\d+)', lambda found: found[1] + str(int(found[2]) + nanoseconds), text, count=1)


def with_jump(text):
    """The clock is set forward in the middle of the recording."""
    trace = json.loads(text)
    timed = [event for event in trace["traceEvents"] if "ts" in event]
    middle = sorted(event["ts"] for event in timed)[len(timed) // 2]
    for event in timed:
        event["ts"] += JUMP_US if event["ts"] > middle else 0
    return json.dumps(trace)


class Job:
    def __init__(self, make_trace, folder, seed):
        self.rng = random.Random(seed)
        self.make_trace, self.folder, self.seed = make_trace, folder, seed
        self.ranks = self.rng.choice([8, 16])
        self.free = self.rng.sample(range(self.ranks), self.ranks)
        self.faults = {}  # name: what it is about
        kinds = self.rng.sample(["slow", "copied file", "second run", "foreign rank", "missing ranks", "clock jump"], self.rng.randint(1, 3))
        words = self.plan_slow_rank() if "slow" in kinds else []
        if "slow" not in kinds:
            self.faults["no slow rank"] = None
        simulate(make_trace, folder, seed, self.ranks, *words)
        for kind in kinds:
            if kind != "slow":
                getattr(self, "make_" + kind.replace(" ", "_"))()

    def plan_slow_rank(self):
        rank, part, step = self.free.pop(), self.rng.choice(list(PARTS)), self.rng.choice([None, self.rng.randint(3, 8)])
        self.faults["slow step" if step else "slow rank"] = (rank, part, step)
        milliseconds = 40 if step else 20
        return ["--straggler", f"{rank}:{milliseconds}:{part}" + (f":{step}" if step else "")]

    def file(self, rank, prefix="", suffix=""):
        return self.folder / f"{prefix}rank{rank}{suffix}.pt.trace.json"

    def other_run(self):
        other = self.folder.with_name("other")
        simulate(self.make_trace, other, self.seed + 100_000, self.ranks)
        return other

    def make_copied_file(self):
        rank = self.free.pop()
        shutil.copy(self.file(rank), self.file(rank, suffix="_copy"))
        self.faults["copied file"] = rank

    def make_second_run(self):
        other = self.other_run()
        for rank in range(self.ranks):
            self.file(rank, prefix="a_").write_text(moved((other / f"rank{rank}.pt.trace.json").read_text(), -HOUR_NS))
        shutil.rmtree(other)
        self.faults["second run"] = None

    def make_foreign_rank(self):
        rank, other = self.free.pop(), self.other_run()
        self.file(rank).write_text(moved((other / f"rank{rank}.pt.trace.json").read_text(), HOUR_NS))
        shutil.rmtree(other)
        self.faults["foreign rank"] = rank

    def make_missing_ranks(self):
        gone = sorted(self.free.pop() for _ in range(self.rng.randint(1, 2)))
        for rank in gone:
            self.file(rank).unlink()
        self.faults["missing ranks"] = gone

    def make_clock_jump(self):
        rank = self.free.pop()
        self.file(rank).write_text(with_jump(self.file(rank).read_text()))
        self.faults["clock jump"] = rank


def judge(stepscope, job):
    """(fault, "right", "refused" or what is wrong) of each fault."""
    stragglers, clocks = asked(stepscope, job.folder, "stragglers"), asked(stepscope, job.folder, "clock_alignment")
    slow, notes = stragglers["tables"][0]["rows"], " ".join(asked(stepscope, job.folder, "overview")["notes"])
    clock = {row["rank"]: row for row in clocks["tables"][0]["rows"]}
    not_in_line = {job.faults.get("foreign rank"), job.faults.get("clock jump")}
    others_aligned = all(row["state"] == "aligned" for rank, row in clock.items() if rank not in not_in_line)
    for fault, about in job.faults.items():
        if fault in ("slow rank", "slow step"):
            rank, part, step = about
            when = f"step {step}" if step else "every step"
            right = len(slow) == 1 and (slow[0]["rank"], slow[0]["when"]) == (rank, when) and slow[0]["part"] in PARTS[part]
            verdict = "right" if right else "refused" if not slow else str([(row["rank"], row["when"], row["part"]) for row in slow])
        elif fault == "no slow rank":
            verdict = "right" if not slow else str([(row["rank"], row["when"], row["part"]) for row in slow])
        elif fault == "copied file":
            verdict = "right" if f"rank{about}_copy" in notes and clock.keys() <= set(range(job.ranks)) else notes
        elif fault == "second run":
            verdict = "right" if "Run 2 of " in notes else notes
        elif fault == "foreign rank":
            verdict = "right" if clock[about]["state"] != "aligned" and clock[about]["why"] and others_aligned else str(clock[about])
        elif fault == "clock jump":
            row = clock[about]
            verdict = "right" if "jump" in (row["why"] or "") and others_aligned else "refused" if row["state"] != "aligned" else str(row)
        else:
            verdict = missing_ranks(stepscope, job, about, notes)
        yield fault, verdict


def missing_ranks(stepscope, job, gone, notes):
    named = [str(rank) for rank in gone if re.search(rf"\b{rank}\b", notes)]
    rates = [row for table in asked(stepscope, job.folder, "communication")["tables"] for row in table["rows"]
             if any(value is not None for name, value in row.items() if name in ("bandwidth", "bus_bandwidth", "algorithm_bandwidth"))]
    sure = [f["title"] for f in asked(stepscope, job.folder, "findings")["tables"][0]["rows"] if f["id"] == "N01" and f["saving_low"]]
    return "right" if len(named) == len(gone) and not rates and not sure else f"named {named}, {len(rates)} rates, {sure}"


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("stepscope", nargs="?", default="build/dev/stepscope")
    words.add_argument("make_trace", nargs="?", default="build/dev/bench/make_trace")
    words.add_argument("--jobs", type=int, default=100)
    words.add_argument("--first-seed", type=int, default=1)
    asked_for = words.parse_args()
    counts, wrong = collections.defaultdict(collections.Counter), []
    for seed in range(asked_for.first_seed, asked_for.first_seed + asked_for.jobs):
        with tempfile.TemporaryDirectory() as folder:
            job = Job(asked_for.make_trace, pathlib.Path(folder) / "job", seed)
            for fault, verdict in judge(asked_for.stepscope, job):
                counts[fault][verdict if verdict in ("right", "refused") else "wrong"] += 1
                if verdict not in ("right", "refused"):
                    wrong.append(f"seed {seed}, {', '.join(job.faults)}: {fault} {job.faults[fault]}: {verdict}")
    print(f"""# Random jobs with faults

Written by `bench/random_jobs.py --jobs {asked_for.jobs} --first-seed {asked_for.first_seed} > bench/JOBS.md`: {asked_for.jobs} simulated jobs with one to three faults at once.

| fault | jobs | right | refused | wrong | right is |
|---|--:|--:|--:|--:|---|""")
    for fault, right in RIGHT.items():
        of = counts[fault]
        print(f"| {fault} | {sum(of.values())} | {of['right']} | {of['refused']} | {of['wrong']} | {right} |")
    print("\n".join(["", "Wrong:", "", *(f"- {line}" for line in wrong)] if wrong else ["", "None is wrong."]))


if __name__ == "__main__":
    main()
