"""Sources R and D: real programs under PyTorch, on the CPU or a device, recorded once by stepscope's profiler and timed without the profiler."""
import json
import os
import shutil
import statistics
import subprocess
from pathlib import Path

from answers import answer_of
from generated import Run
from tables import HERE

ROUNDS = 3  # of the faulty and the repaired program, alternating
LEAST_SAVING = 0.02  # of the step: a smaller saving is no fault on this machine
PROGRAMS = HERE / "programs"
# Makes glibc keep freed memory: otherwise large tensors cost page faults in some processes and not in others, recorded or not.
STEADY_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(4 << 30)}


def missing(python, source):
    """Why programs cannot be run; "" if they can."""
    wants = "import torch, numpy, stepscope.profiler"
    if not python.exists() or subprocess.run([str(python), "-c", wants], capture_output=True, check=False).returncode != 0:
        return f"{python} has no torch, numpy or stepscope: bench/package.sh makes one that does"
    cuda = [str(python), "-c", "import torch; assert torch.cuda.is_available()"]
    if source == "D" and subprocess.run(cuda, capture_output=True, check=False).returncode != 0:
        return "no device that PyTorch can use on this machine"
    return ""


class Programs:
    """A process that has torch and runs programs on request."""

    def __init__(self, python, device):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **STEADY_MEMORY}
        if device:
            environment["EXPLAIN_DEVICE"] = "1"
        self.process = subprocess.Popen([str(python), "serve.py"], cwd=PROGRAMS, env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def run(self, program, healthy, seed, trace=None):
        job = {"program": program, "healthy": healthy, "seed": seed, "trace": str(trace) if trace else None}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline() or '{"failed": "the programs\' process ended"}')

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def answered(programs, cause, healthy, seed, folder):
    """Records one run and asks stepscope about it: about all ranks for a job of four, else about the first."""
    target = folder / "recorded"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    result = programs.run(cause.name, healthy, seed, target / "trace.json")
    if "failed" in result:
        raise RuntimeError(result["failed"])
    traces = sorted(target.glob("*.json"))
    return answer_of(target if cause.job == "four" else traces[0])


def standard_error(taken):
    """Standard error of a median, from the median absolute deviation; on normal data it is 1.2533 times the mean's."""
    middle = statistics.median(taken)
    return 1.2533 * 1.4826 * statistics.median(abs(one - middle) for one in taken) / len(taken) ** 0.5


def timed(programs, cause, seed):
    """Seconds per step of the faulty and the repaired program, run in alternation, and the difference that chance explains."""
    taken = {False: [], True: []}
    for _ in range(ROUNDS):
        for healthy in (False, True):
            result = programs.run(cause.name, healthy, seed)
            if "failed" in result:
                raise RuntimeError(result["failed"])
            taken[healthy] += result["steps_s"]
    if cause.measure != "median":  # the fault is in some steps only: their spread is not chance
        return statistics.mean(taken[False]), statistics.mean(taken[True]), 0
    chance = 2 * (standard_error(taken[False]) ** 2 + standard_error(taken[True]) ** 2) ** 0.5
    return statistics.median(taken[False]), statistics.median(taken[True]), chance


def record(python, outcome, source, chosen, seeds, folder, say):
    wanted = [cause for cause in chosen if source in cause.sources]
    reason = missing(python, source)
    if reason:
        outcome.skipped.append((source, "all", reason))
        return
    programs = Programs(python, source == "D")
    for cause in wanted:
        say(f"source {source}, {cause.name}")
        if not (PROGRAMS / f"{cause.name}.py").exists():
            outcome.skipped.append((source, cause.name, "no program"))
            continue
        for seed in seeds:
            try:
                faulty = answered(programs, cause, False, seed, folder)
                healthy = answered(programs, cause, True, seed, folder)
                with_fault, without, chance = timed(programs, cause, seed)
            except (RuntimeError, subprocess.SubprocessError, OSError) as error:
                outcome.skipped.append((source, f"{cause.name}, seed {seed}", str(error)))
                continue
            if with_fault - without < max(LEAST_SAVING * with_fault, chance):
                outcome.skipped.append((source, f"{cause.name}, seed {seed}", "no fault on this machine: the repair takes the step "
                                        f"from {with_fault * 1e3:.1f} to {without * 1e3:.1f} ms"))
                continue
            outcome.runs.append(Run(source, str(cause.number), cause.name, seed, cause.rules, cause.word, (), faulty, healthy,
                                    (with_fault - without) * 1e9, with_fault * 1e9,
                                    f"bench/explain/programs/{cause.name}.py --seed {seed} --trace trace.json"))
    programs.close()
