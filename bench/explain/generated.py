"""Source G: simulated jobs. Their truth comes from the simulation, never from stepscope."""
import json
import math
import random
import shutil
import subprocess
from dataclasses import dataclass

from answers import ROOT, answer_of
from tables import options_of, words_of

MAKE_TRACE = ROOT / "build" / "release" / "bench" / "make_trace"
KEPT = None  # a folder for the recordings of single causes and their manifest, for advice_sensitivity
SHORTEST_MS, LONGEST_MS = 5, 200
LEAST_PAUSED_MS = 12  # in shorter steps, a pause of 22 ms in every 5th leaves most of the recording empty, which nobody can judge
FEWEST, MOST = 4, 96  # blocks
CHEAPEST, DEAREST = 0.3, 8.0  # --host-cost
STEPS, WARMUP = "10", "3"
HOST_SHARE = {"ahead": 0.35, "close": 0.75, "paused": 0.75, "tight": 0.9, "ranks": 0.35, "four": 0.35, "reduce": 0.35}
RANKS = {"ranks": 2, "four": 4, "reduce": 2}
# Values that tables may use for a device: GB/s from pageable memory, FLOP per ms in double precision, GB/s of its memory.
DEVICES = {"cuda": {"PAGEABLE": 6.5, "FP64": 8.5e9, "MEMORY": 1450}, "rocm": {"PAGEABLE": 9.0, "FP64": 45e9, "MEMORY": 3600}}
# Options for small costs that belong to no cause, in ms of a step of T ms, and the rules that may name them.
SMALL = (("--preprocess", "I05"), ("--python", "H02"), ("--callback", "H07"))


@dataclass(frozen=True)
class Run:
    """One program with a fault, its repaired twin, and the saving of the repair."""
    source: str
    number: str
    name: str
    seed: int
    rules: tuple
    word: str
    noise: tuple  # rules of the small costs that were added
    faulty: object
    healthy: object
    saving: float  # ns per step, measured
    step: float  # ns, measured, of the faulty program
    command: str


class Job:
    """A seed's job of a kind: sizes, step length, how far ahead the host is. Tables may use the values T, C, L, …."""

    def __init__(self, kind, seed, folder):
        draw = random.Random(f"{kind} {seed}")
        self.seed = seed
        shortest = LEAST_PAUSED_MS if kind == "paused" else SHORTEST_MS
        wanted = shortest * (LONGEST_MS / shortest) ** draw.random()
        sizes = [(768, 2048), (1024, 2048), (1024, 4096), (1536, 4096), (2048, 4096), (2048, 8192)]
        if kind == "reduce":
            sizes = [(768, 2048), (1024, 2048), (1536, 2048)]
        if kind in ("close", "paused", "tight"):  # larger sizes would need a host slower than real hosts
            sizes = sizes[:3]
        fitting = [size for size in sizes if FEWEST <= wanted / per_layer_ms(*size) <= MOST]
        hidden, tokens = draw.choice(fitting or sizes[-1:])
        layers = max(FEWEST, min(MOST, round(wanted / per_layer_ms(hidden, tokens))))
        self.options = {"--layers": str(layers), "--hidden": str(hidden), "--tokens": str(tokens), "--seed": str(seed),
                        "--steps": STEPS, "--warmup": WARMUP, "--noise": "3"}
        vendor = "rocm" if draw.random() < 0.25 else "cuda"
        self.options["--vendor"] = vendor
        self.options["--dialect"] = "us" if draw.random() < 0.2 else "ns"
        if kind in RANKS:
            self.options["--ranks"] = str(RANKS[kind])
        share = HOST_SHARE[kind] * (0.95 + 0.1 * draw.random())
        cost, step_ms = self.host_cost(share, folder)
        if step_ms < shortest:  # the device is faster than per_layer_ms estimates
            layers = math.ceil(1.02 * layers * shortest / step_ms)
            self.options["--layers"] = str(layers)
            cost, step_ms = self.host_cost(share, folder)
        self.options["--host-cost"] = f"{cost:.3g}"
        self.values = {"T": step_ms, "C": cost, "L": layers, "U": 0.9 + 0.2 * draw.random(), "SEED": seed,
                       "TOKENS": tokens, "HIDDEN": hidden, **DEVICES[vendor]}
        self.draw = draw

    def host_cost(self, share, folder):
        """The --host-cost with which the host needs `share` of the step, and the step's ms. It does not scale runtime calls."""
        quick, slow = (simulate({**self.options, "--steps": "4", "--host-cost": str(cost)}, folder, "calibration")
                       for cost in (CHEAPEST, DEAREST))
        work = [truth["steps"][-1]["host_work"] for truth in (quick, slow)]
        step = quick["step_ns"]  # the device limits the step
        slope = (work[1] - work[0]) / (DEAREST - CHEAPEST)
        return max(CHEAPEST, min(DEAREST, CHEAPEST + (share * step - work[0]) / slope)), step / 1e6

    def small_costs(self, rules):
        """Zero to two costs of at most 2 % of the step each, and their rules."""
        chosen = self.draw.sample([one for one in SMALL if one[1] not in rules], self.draw.randint(0, 2))
        return ({name: f"{self.values['T'] * (0.004 + 0.014 * self.draw.random()):.4g}" for name, _ in chosen},
                tuple(rule for _, rule in chosen))


def per_layer_ms(hidden, tokens):
    """Estimated ms per layer on the simulated device; close enough for choosing sizes."""
    return 48.0 * tokens * hidden * hidden / 215e9 + 0.00009 * tokens * hidden / 1000


def simulate(options, folder, name):
    """Writes `name` (a file, or a folder of ranks) and returns the truth."""
    several = "--ranks" in options
    target = folder / name if several else folder / f"{name}.json"
    truth = folder / f"{name}.truth"
    subprocess.run([str(MAKE_TRACE), "--out", str(target), "--truth", str(truth), *words_of(options)], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(truth.read_text())


def trace_of(options, folder, name, whole=False):
    if "--ranks" not in options:
        return folder / f"{name}.json"
    return folder / name if whole else folder / name / "rank0.pt.trace.json"


def judged(options, folder, name, whole=False, kept_as=None):
    answer = answer_of(trace_of(options, folder, name, whole))
    if KEPT and kept_as:
        shutil.move(trace_of(options, folder, name, whole), KEPT / kept_as)
    left = folder / (name if "--ranks" in options else f"{name}.json")
    if left.is_dir():
        shutil.rmtree(left)
    elif left.exists():
        left.unlink()
    return answer


def shown(options):
    return " ".join(["make_trace", *words_of(options)])


def saving_in(truth, without, measure):
    key = "saving_ns" if measure == "median" else "mean_saving_ns"
    return next(one[key] for one in truth["savings"] if one["without"] == without)


def cause_run(cause, seed, folder):
    job = Job(cause.job, seed, folder)
    small, noise = job.small_costs(cause.rules)
    options = {**job.options, **options_of(cause.faulty, job.values)}
    for name, value in small.items():
        options.setdefault(name, value)
    whole = cause.job == "four"
    truth = simulate(options, folder, "faulty")
    kept = [f"{cause.name}-{seed}-{kind}.json" for kind in ("faulty", "healthy")]
    faulty = judged(options, folder, "faulty", whole, kept[0])
    repaired = {**options, "--without": cause.without}
    repaired_truth = simulate(repaired, folder, "healthy")
    healthy = judged(repaired, folder, "healthy", whole, kept[1])
    if shorter_transfers_help(healthy, repaired, repaired_truth, folder):
        noise += ("N01",)
    step = truth["step_ns" if cause.measure == "median" else "mean_ns"]
    saving = saving_in(truth, cause.without, cause.measure)
    if KEPT:
        with (KEPT / "manifest").open("a") as manifest:
            for kind, path in zip(("faulty", "healthy"), kept):
                manifest.write(f"{kind}\t{','.join(cause.rules)}\t{saving}\t{KEPT / path}\n")
    return Run("G", str(cause.number), cause.name, seed, cause.rules, cause.word, noise, faulty, healthy, saving, step, shown(options))


def shorter_transfers_help(answer, options, truth, folder):
    """Whether N01's ranges fit simulated savings: low at most that of 80 % shorter transfers, high at least that of 20 % shorter ones."""
    found = [one for one in answer.found if one.rule == "N01" and answer.notable(one)]
    if not found:
        return False
    least, most = (truth["step_ns"] - simulate({**options, "--network-scale": factor}, folder, "shorter")["step_ns"]
                   for factor in ("0.8", "0.2"))
    shutil.rmtree(folder / "shorter")
    return all(0.9 * least <= one.high and one.low <= 1.1 * most for one in found)


@dataclass(frozen=True)
class Caught:
    """A trap and stepscope's answer to it."""
    trap: object
    seed: int
    answer: object
    noise: tuple
    command: str


def trap_run(trap, seed, folder):
    job = Job(trap.job, seed, folder)
    options = {**job.options, **options_of(trap.options, job.values)}
    simulate(options, folder, "trap")
    if trap.cut < 1:
        path = trace_of(options, folder, "trap")
        whole = path.read_bytes()
        path.write_bytes(whole[:int(len(whole) * trap.cut)])
    return Caught(trap, seed, judged(options, folder, "trap"), (), shown(options))


@dataclass(frozen=True)
class Pair:
    """Two causes in one job: single repairs and the joint one, in ns per step."""
    causes: tuple
    seed: int
    answer: object
    savings: tuple
    joint: float
    step: float
    command: str


def pair_run(one, two, seed, folder):
    kinds = [cause.job for cause in (one, two)]
    job = Job("reduce" if "reduce" in kinds else kinds[0] if kinds[0] == kinds[1] else "close", seed, folder)
    options = {**job.options, **options_of(one.faulty, job.values), **options_of(two.faulty, job.values)}
    truth = simulate(options, folder, "pair")
    return Pair((one, two), seed, judged(options, folder, "pair"),
                tuple(saving_in(truth, cause.without, "median") for cause in (one, two)),
                saving_in(truth, "all", "median"), truth["step_ns"], shown(options))
