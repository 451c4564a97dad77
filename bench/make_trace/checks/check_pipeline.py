"""Are the stages of a pipeline found, with their bubbles? Simulates pipelines and compares `stepscope show pipeline` with
the truth of every stage and step. With few micro-batches rule N08 must fire, and the saving it predicts must come true with
twice as many; with many micro-batches it must stay silent. A stage with more blocks than others is no straggler: rule N13
names it, in place of N08, and the saving is what a pipeline of even stages gains. A slow rank among ranks of one stage is a
straggler.

    check_pipeline.py STEPSCOPE MAKE_TRACE FOLDER [SEEDS]
"""

import json
import pathlib
import random
import shutil
import subprocess
import sys

NEAR_NS = 2_000  # tolerance: a step of the trace also waits until the host has marked it


def table(stepscope, analysis, folder, number=0):
    text = subprocess.run([stepscope, "show", analysis, folder, "--format", "json"], check=True, capture_output=True,
                          text=True).stdout
    found = json.loads(text)["tables"][number]
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row)) for row in found["rows"]]


def simulate(make_trace, folder, seed, **options):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    truth = folder.with_suffix(".json")
    words = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), str(value))]
    subprocess.run([make_trace, "--steps", "5", "--clock-skew", "1000000", "--seed", str(seed), "--out", str(folder),
                    "--truth", str(truth), *words], check=True, stdout=subprocess.DEVNULL)
    return json.loads(truth.read_text())


def check_bubbles(stepscope, folder, truth):
    """Differences between the answer and the truth."""
    stages, micro_batches = truth["options"]["stages"], truth["options"]["micro_batches"]
    said = {(row["rank"], row["step"]): row for row in table(stepscope, "pipeline", folder, 1)}
    wrong = [] if len(said) == len(truth["steps"]) else [f"{len(said)} of {len(truth['steps'])} steps"]
    for step in truth["steps"]:
        row = said.get((step["rank"], step["number"]))
        if row is None:
            continue
        pairs = {"stage": (row["stage"], step["stage"], 0), "micro_batches": (row["micro_batches"], micro_batches, 0),
                 "compute": (row["compute"], step["compute"], 0), "waiting": (row["waiting"], step["only_messages"], NEAR_NS),
                 "bubble": (row["bubble"], step["bubble"], NEAR_NS), "length": (row["length"], step["length"], NEAR_NS)}
        wrong += [f"rank {step['rank']} step {step['number']}: {name} {a}, truth {b}" for name, (a, b, near) in pairs.items()
                  if abs(a - b) > near]
        ideal = (stages - 1) / (micro_batches + stages - 1)
        if abs(row["ideal_share"] - ideal) > 1e-9:
            wrong.append(f"ideal {row['ideal_share']}, not {ideal}")
    return wrong


def check_advice(stepscope, make_trace, folder, seed, job):
    few = simulate(make_trace, folder / "few", seed, micro_batches=job["stages"], **job)
    twice = simulate(make_trace, folder / "twice", seed, micro_batches=2 * job["stages"], **job)
    many = simulate(make_trace, folder / "many", seed, micro_batches=8 * job["stages"], **job)
    wrong = []
    for name, truth in ("few", few), ("twice", twice), ("many", many):
        wrong += [f"{name}: {what}" for what in check_bubbles(stepscope, folder / name, truth)]
    gain = few["step_ns"] - twice["step_ns"]
    found = {f["of_rank"]: f for f in table(stepscope, "findings", folder / "few") if f["id"] == "N08"}
    if sorted(found) != sorted(str(rank) for rank in range(job["ranks"])):
        wrong.append(f"few: N08 for ranks {sorted(found)}")
    wrong += [f"few: rank {rank}: {gain} ns saved, said {f['saving_low']} to {f['saving_high']}" for rank, f in found.items()
              if not f["saving_low"] <= gain <= f["saving_high"]]
    told = [f for f in table(stepscope, "findings", folder / "many") if f["id"] in ("N05", "N08")]
    return wrong + [f"many: {f['title']}" for f in told]


def check_heavy_stage(stepscope, make_trace, folder, seed, job):
    stages = job["stages"]
    job = {**job, "micro_batches": 4 * stages}
    heavy = simulate(make_trace, folder / "uneven", seed, last_stage_layers=stages, **job)
    even = simulate(make_trace, folder / "even", seed, **{**job, "layers": job["layers"] + stages})
    gain = heavy["step_ns"] - even["step_ns"]
    found = [f for f in table(stepscope, "findings", folder / "uneven") if f["id"] in ("N08", "N13")]
    named = f"Stage {stages - 1} of the pipeline, on rank {stages - 1}, computes "
    wrong = [f"uneven: {f['title']}" for f in found if not f["title"].startswith(named)]
    wrong += [f"uneven: {gain} ns saved, said {f['saving_low']} to {f['saving_high']}" for f in found
              if not f["saving_low"] <= gain <= 1.05 * f["saving_high"]]
    wrong += [] if len(found) == job["ranks"] else [f"uneven: {len(found)} findings"]
    return wrong + [f"even: {f['title']}" for f in table(stepscope, "findings", folder / "even") if f["id"] == "N13"]


def check_stragglers(stepscope, make_trace, folder, seed, job):
    job = {**job, "ranks": 4 * job["stages"], "micro_batches": 4 * job["stages"], "last_stage_layers": 2}
    simulate(make_trace, folder / "heavy", seed, **job)
    wrong = [f"heavy last stage: {row}" for row in table(stepscope, "stragglers", folder / "heavy")]
    rank = seed % job["ranks"]
    truth = simulate(make_trace, folder / "slow", seed, straggler=f"{rank}:20:compute", **job)
    named = [row["rank"] for row in table(stepscope, "stragglers", folder / "slow")]
    wrong += check_bubbles(stepscope, folder / "slow", truth)
    return wrong + ([] if named == [rank] else [f"slow rank {rank}: {named}"])


def main(stepscope, make_trace, folder, seeds="2"):
    folder, wrong = pathlib.Path(folder), []
    for seed in range(1, int(seeds) + 1):
        rng = random.Random(seed)
        stages = 2 + seed % 3
        job = {"stages": stages, "ranks": stages, "layers": 2 * stages, "tokens": 16384 * stages,
               "noise": f"{rng.uniform(0.5, 2):.1f}"}
        faults = check_advice(stepscope, make_trace, folder, seed, job)
        faults += check_heavy_stage(stepscope, make_trace, folder, seed, job)
        faults += check_stragglers(stepscope, make_trace, folder, seed, job)
        wrong += [f"seed {seed}, {stages} stages: {fault}" for fault in faults]
        print(f"seed {seed}: {stages} stages, {len(faults)} faults")
    assert not wrong, "\n".join(wrong[:40])


if __name__ == "__main__":
    main(*sys.argv[1:])
