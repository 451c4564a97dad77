"""Does `whatif` predict what a job does with something changed? The simulator runs twice with the same seed, without and
with the change, and `stepscope whatif` on the first run must predict the step of the second.

    check_whatif.py STEPSCOPE MAKE_TRACE FOLDER [SEEDS]

A prediction is right when it is within 5 % of the changed run's median step. At least 90 % of the seeds of each
transformation must be right; of the others, the range must hold the changed step, or the answer be refused.
"""

import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys

RIGHT, SHARE = 0.05, 0.9
PHASES = ["input", "host", "compute"]


def collectives(rng, ranks):
    return ["--exposed-comm"] * rng.choice([0, 1]), ["--network-scale", "0.5"], "comm=0.5"


def straggler(rng, ranks):
    rank = rng.randrange(ranks)
    planted = ["--straggler", f"{rank}:{rng.uniform(3, 20):.2f}:{rng.choice(PHASES)}"]
    return planted, ["--without", "straggler"], f"straggler:{rank}=0"


def kernels(rng, ranks):
    return ["--exposed-comm"] * rng.choice([0, 1]), ["--kernel-scale", "0.7"], "compute=0.7"


def launches(rng, ranks):
    return [], ["--launch-scale", "0.5"], "launch=0.5"


def loader(rng, ranks):
    return ["--slow-input", f"{rng.uniform(3, 30):.2f}"], ["--without", "slow_input"], "data_loading=0"


CHANGES = {"collectives x 0.5": collectives, "straggler removed": straggler, "kernels x 0.7": kernels,
           "loader x 0": loader, "launches x 0.5": launches}


def job(rng):
    """A job bound by its device or by its host, with or without blocking calls and collectives in the forward pass."""
    ranks = rng.randint(4, 8)
    extras = rng.choice([[], [], ["--tensor-parallel"], ["--streams", "2"], ["--item-sync", "3"], ["--vendor", "rocm"],
                         ["--pageable-copy", "8"]])
    return ranks, ["--ranks", str(ranks), "--steps", "6", "--layers", str(rng.randint(3, 6)),
                   "--hidden", str(rng.choice([512, 1024, 1536])), "--host-cost", f"{rng.uniform(0.5, 3):.2f}",
                   "--noise", f"{rng.uniform(1, 4):.1f}", "--clock-skew", "1000000", "--clock-drift", "20", *extras]


def simulate(make_trace, folder, options):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    truth = folder.with_suffix(".json")
    subprocess.run([make_trace, *options, "--out", str(folder), "--truth", str(truth)], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(truth.read_text())


def predicted(stepscope, folder, scale):
    """The job's row, or None when refused."""
    text = subprocess.run([stepscope, "whatif", folder, "--scale", scale, "--format", "json"], check=True,
                          capture_output=True, text=True).stdout
    tables = {t["title"]: t for t in json.loads(text)["tables"]}
    table = tables.get("What would change the job")
    return dict(zip([c["name"] for c in table["columns"]], table["rows"][0])) if table else None


def one(programs, folder, seed, name):
    """The prediction, the changed run's median and mean step, and the job's options as text."""
    rng = random.Random(f"{seed} {name}")
    ranks, options = job(rng)
    planted, change, scale = CHANGES[name](rng, ranks)
    options += ["--seed", str(seed), *planted]
    stepscope, make_trace = programs
    before = simulate(make_trace, folder / "recorded", options)
    after = simulate(make_trace, folder / "changed", options + change)
    said = predicted(stepscope, folder / "recorded", scale)
    return said, before, after, f"seed {seed}: {' '.join(options)}; {scale}"


def judge(programs, folder, seeds, name):
    errors, means, missed, refused, wrong = [], [], [], 0, []
    for seed in range(1, seeds + 1):
        said, before, after, how = one(programs, folder, seed, name)
        if said is None:
            refused += 1
            continue
        step, mean = after["step_ns"], after["mean_ns"]
        errors.append(abs(said["step"] - step) / step)
        means.append(abs(said["step"] - mean) / mean)
        if errors[-1] <= RIGHT:
            continue
        text = (f"{how}\n    {before['step_ns'] / 1e6:.2f} ms became {step / 1e6:.2f} (mean {mean / 1e6:.2f}), said "
                f"{said['step'] / 1e6:.2f} ({said['low'] / 1e6:.2f} to {said['high'] / 1e6:.2f})")
        missed.append(text)
        if not said["low"] <= step <= said["high"]:
            wrong.append(f"{name}: outside its range: {text}")
    right = seeds - refused - len(missed)
    print(f"{name:18} {right:4} of {seeds} within 5 %, {len(missed)} further off, {refused} refused; error median "
          f"{statistics.median(errors):.2%}, worst {max(errors):.2%}; of the mean step {statistics.median(means):.2%}, "
          f"{max(means):.2%}")
    for text in missed:
        print("  " + text)
    if right < SHARE * seeds:
        wrong.append(f"{name}: only {right} of {seeds} are right")
    return wrong


def main(stepscope, make_trace, folder, seeds="2"):
    wrong = []
    for name in CHANGES:
        wrong += judge((stepscope, make_trace), pathlib.Path(folder), int(seeds), name)
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    main(*sys.argv[1:])
