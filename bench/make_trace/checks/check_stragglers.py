"""Is the slow rank found, and the part of its step in which it is slow? Simulates jobs with one slow rank, or none, and
asks `stepscope show stragglers`. The advice (rule N05) must agree for the ranks that wait, and must stay silent if nothing
is planted. If a rank is slow in one step of ten, the verdict is that of the other steps, its last sentence names step and
rank, and rule H09 speaks of that rank alone. Without the collectives in the files, nothing connects the ranks: no clock may be called aligned and no rank
blamed.

    check_stragglers.py STEPSCOPE MAKE_TRACE FOLDER [SEEDS [RANKS]]
"""

import json
import pathlib
import shutil
import subprocess
import sys

PARTS = {"input": {"input"}, "host": {"host", "python"}, "compute": {"compute"}}


def first_table(stepscope, analysis, folder):
    text = subprocess.run([stepscope, "show", analysis, folder, "--format", "json"], check=True,
                          capture_output=True, text=True).stdout
    table = json.loads(text)["tables"][0]
    names = [c["name"] for c in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def headlines(stepscope, folder):
    text = subprocess.run([stepscope, "report", folder, "--format", "json"], check=True, capture_output=True, text=True).stdout
    table = json.loads(text)["reports"][0]["tables"][0]
    at = [c["name"] for c in table["columns"]].index("headline")
    return [row[at] for row in table["rows"]]


def blamed(stepscope, folder):
    return sorted((f for f in first_table(stepscope, "findings", folder) if f["id"] == "N05"), key=lambda f: int(f["of_rank"]))


def simulate(make_trace, folder, ranks, seed, planted, steps=6):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run([make_trace, "--ranks", str(ranks), "--steps", str(steps), "--layers", "4", "--clock-skew", "1000000",
                    "--seed", str(seed), "--out", str(folder), *planted], check=True, stdout=subprocess.DEVNULL)


def is_collective(event):
    args = event.get("args", {})
    return "nccl" in event.get("name", "").lower() or "Collective name" in args or event.get("name") == "record_param_comms"


def remove_collectives(folder):
    removed = 0
    for file in sorted(folder.glob("*.json")):
        trace = json.loads(file.read_text())
        kept = [e for e in trace["traceEvents"] if not is_collective(e)]
        removed += len(trace["traceEvents"]) - len(kept)
        trace["traceEvents"] = kept
        file.write_text(json.dumps(trace))
    assert removed > 0


def blames_without_collectives(stepscope, folder):
    """Statements about ranks that nothing connects; there must be none."""
    remove_collectives(folder)
    aligned = [row["rank"] for row in first_table(stepscope, "clock_alignment", folder) if row["state"] == "aligned"]
    return aligned + first_table(stepscope, "stragglers", folder) + blamed(stepscope, folder)


def slow_in_one_step(stepscope, make_trace, folder, ranks, seed, phase):
    """What is wrong with the answer for a job in which a rank takes 40 ms longer in one step of ten; "" if nothing."""
    rank, step = (seed * 5 + len(phase)) % ranks, 3 + seed % 6
    simulate(make_trace, folder, ranks, seed, [], steps=10)
    usual = [line.split(":")[0] for line in headlines(stepscope, folder)]
    simulate(make_trace, folder, ranks, seed, ["--straggler", f"{rank}:40:{phase}:{step}"], steps=10)
    lines = headlines(stepscope, folder)
    found = [f for f in first_table(stepscope, "findings", folder) if f["id"] == "H09"]
    late = f", as rank {rank} took "
    right = ([line.split(":")[0] for line in lines] == usual
             and all(f" Step {step} took " in line and (late in line) == (r != rank) for r, line in enumerate(lines))
             and [f["of_rank"] for f in found] == [str(rank)])
    return "" if right else f"seed {seed}: rank {rank} slow ({phase}) in step {step} only, said {lines[rank]} and {lines[rank - 1]}, found {found}"


def slow_in_several_steps(stepscope, make_trace, folder, ranks, seed):
    """What is wrong with the costs of a rank that takes 40 ms longer in three steps of ten; "" if nothing."""
    rank, steps = seed % ranks, (3, 5, 7)
    simulate(make_trace, folder, ranks, seed, [w for k in steps for w in ("--straggler", f"{rank}:40:compute:{k}")], steps=10)
    found = first_table(stepscope, "stragglers", folder)
    right = ([(f["rank"], f["when"]) for f in found] == [(rank, f"step {k}") for k in steps]
             and all(abs(f["cost"] - 40e6) < 8e6 for f in found))
    return "" if right else f"seed {seed}: rank {rank} 40 ms longer in steps {steps}, found {found}"


def slow_together(stepscope, make_trace, folder, ranks, seed):
    """What is wrong with the answer for two ranks of which each takes 20 ms longer; "" if nothing."""
    one, other = sorted((seed % ranks, (seed + 3) % ranks))
    simulate(make_trace, folder, ranks, seed, ["--straggler", f"{one}:20:compute", "--straggler", f"{other}:20:input"])
    told = blamed(stepscope, folder)
    right = ([f["of_rank"] for f in told] == [str(r) for r in range(ranks) if r not in (one, other)]
             and all(f["title"].startswith(f"Ranks {one} and {other} take ") and 10e6 < f["saving_high"] < 25e6 for f in told)
             and all(f" Ranks {one} and {other} hold the others up: " in line for line in headlines(stepscope, folder)))
    return "" if right else f"seed {seed}: ranks {one} and {other} slow, said {told}"


def named_by_diff(stepscope, make_trace, folder, ranks, seed):
    """What is wrong with the comparison of a job and the same one with a slow rank; "" if nothing."""
    rank = seed % ranks
    simulate(make_trace, folder / "a", ranks, seed, [])
    simulate(make_trace, folder / "b", ranks, seed, ["--straggler", f"{rank}:20:compute"])
    said = subprocess.run([stepscope, "diff", folder / "a", folder / "b"], check=True, capture_output=True, text=True)
    text = " ".join((said.stdout + said.stderr).split())
    return "" if f"Only in B rank {rank} is slow: " in text and "Only in A" not in text else f"seed {seed}: diff said {text}"


def main(stepscope, make_trace, folder, seeds="2", ranks="8"):
    folder, ranks, right, wrong = pathlib.Path(folder), int(ranks), 0, []
    for seed in range(1, int(seeds) + 1):
        simulate(make_trace, folder, ranks, seed, [])
        if found := first_table(stepscope, "stragglers", folder) + blamed(stepscope, folder):
            wrong.append(f"seed {seed}: nothing planted, found {found}")
        for phase, parts in PARTS.items():
            rank = (seed * 3 + len(phase)) % ranks
            simulate(make_trace, folder, ranks, seed, ["--straggler", f"{rank}:20:{phase}"])
            found = first_table(stepscope, "stragglers", folder)
            named = [f["rank"] for f in found]
            told = blamed(stepscope, folder)
            others = [str(r) for r in range(ranks) if r != rank]
            if (named == [rank] and found[0]["part"] in parts and found[0]["when"] == "every step"
                    and [f["of_rank"] for f in told] == others
                    and all(f["title"].startswith(f"Rank {rank} takes ") for f in told)
                    and all(f" Rank {rank} holds the others up: " in line for line in headlines(stepscope, folder))):
                right += 1
            else:
                wrong.append(f"seed {seed}: planted rank {rank} {phase}, found {found}, said {told}")
            if phase == "input" and (said := blames_without_collectives(stepscope, folder)):
                wrong.append(f"seed {seed}: without collectives {said}")
        for phase in PARTS:
            if said := slow_in_one_step(stepscope, make_trace, folder, ranks, seed, phase):
                wrong.append(said)
        for planted in (slow_in_several_steps, slow_together, named_by_diff):
            if said := planted(stepscope, make_trace, folder, ranks, seed):
                wrong.append(said)
    print(f"{right} of {int(seeds) * len(PARTS)} slow ranks named with their part, of {ranks} ranks each")
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    main(*sys.argv[1:])
