"""Checks that the order of events and the number of threads do not change the answer; measures what advice costs."""
import json
import random
import subprocess
from dataclasses import dataclass

import answers
import generated
from answers import report_bytes
from tables import options_of

THREADS = (1, 2, 4)
FEW = (1, 9, 14, 20)


@dataclass(frozen=True)
class Steady:
    name: str
    seed: int
    what: str
    same: bool


@dataclass(frozen=True)
class Cost:
    name: str
    seed: int
    report_s: float
    advice_s: float


def check(outcome, folder, chosen, say):
    say("other orders, other threads, what advice costs")
    timer = answers.PROGRAM.parent / "bench" / "advice_cost"
    for cause in [one for one in chosen if one.number in FEW]:
        job = generated.Job(cause.job, 1, folder)
        options = {**job.options, **options_of(cause.faulty, job.values)}
        generated.simulate(options, folder, "steady")
        path = generated.trace_of(options, folder, "steady")
        document = json.loads(path.read_text())
        path.write_text(json.dumps(document))
        first = report_bytes(path)
        for threads in THREADS:
            outcome.steadiness.append(Steady(cause.name, 1, f"{threads} threads", report_bytes(path, threads) == first))
        if timer.exists():
            times = json.loads(subprocess.run([str(timer), str(path)], check=True, stdout=subprocess.PIPE).stdout)
            outcome.costs.append(Cost(cause.name, 1, times["report_s"], times["advice_s"]))
        random.Random(1).shuffle(document["traceEvents"])
        path.write_text(json.dumps(document))
        outcome.steadiness.append(Steady(cause.name, 1, "events in another order", report_bytes(path) == first))
