"""Does advice name what is wrong? Plants causes, asks stepscope, scores the answers, writes bench/EXPLAIN.md."""
import argparse
import datetime
import pickle
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import answers
import document
import generated
import recorded
import steady
from outcome import Outcome
from tables import COMBINED, causes, traps


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="jobs per cause (5)")
    parser.add_argument("--first-seed", type=int, default=1, help="(1); 1 to 3 are used to develop rules")
    parser.add_argument("--recorded-seeds", type=int, help="jobs per real program (as --seeds)")
    parser.add_argument("--sources", default="G R", help='which of "G R D" (generated, recorded on the CPU, on a device)')
    parser.add_argument("--causes", default="", help="numbers of causes, e.g. 1,9; without it all")
    parser.add_argument("--program", type=Path, default=answers.PROGRAM, help="the stepscope to ask")
    parser.add_argument("--python", type=Path, default=answers.ROOT / "build" / "bench-venv" / "bin" / "python",
                        help="one that has torch and stepscope, for real programs (what bench/package.sh makes)")
    parser.add_argument("--make-trace", type=Path, default=generated.MAKE_TRACE)
    parser.add_argument("--output", type=Path, default=answers.ROOT / "bench" / "EXPLAIN.md")
    parser.add_argument("--smoke", action="store_true", help="few causes, one seed, nothing written; fails unless it ran")
    parser.add_argument("--keep", type=Path, help="keep what was measured in this file")
    parser.add_argument("--traces", type=Path, help="keep the recordings of single causes in this folder, with a manifest for constants.py")
    parser.add_argument("--again", type=Path, help="write the document from such a file")
    return parser.parse_args()


def say(text):
    print(f"explain: {text}", file=sys.stderr)


def generate(outcome, chosen, seeds, folder, smoke):
    for seed in seeds:
        say(f"source G, seed {seed}")
        for cause in chosen:
            outcome.runs.append(generated.cause_run(cause, seed, folder))
        for trap in traps()[:3] if smoke else traps():
            outcome.caught.append(generated.trap_run(trap, seed, folder))
        pairs = [pair for pair in combinations(chosen, 2) if all(cause.number in COMBINED for cause in pair)]
        for one, two in pairs[:1] if smoke else pairs:
            outcome.pairs.append(generated.pair_run(one, two, seed, folder))


def main():
    options = arguments()
    answers.PROGRAM, generated.MAKE_TRACE = options.program.resolve(), options.make_trace.resolve()
    if options.traces:
        options.traces.mkdir(parents=True)
        generated.KEPT = options.traces.resolve()
    if options.again:
        outcome = pickle.loads(options.again.read_bytes())
    else:
        outcome = measured(options)
    if options.keep:
        options.keep.write_bytes(pickle.dumps(outcome))
    if options.smoke:
        return smoked(outcome)
    options.output.write_text(document.document(outcome))
    say(f"wrote {options.output}")


def measured(options):
    commit = subprocess.run(["git", "-C", str(answers.ROOT), "rev-parse", "--short", "HEAD"], capture_output=True,
                            text=True, check=False).stdout.strip()
    recorded_seeds = options.recorded_seeds or options.seeds
    outcome = Outcome(options.seeds, recorded_seeds, options.sources, datetime.date.today().isoformat(), commit, options.first_seed)
    chosen = [cause for cause in causes() if not options.causes or str(cause.number) in options.causes.split(",")]
    if options.smoke:
        generated.LONGEST_MS = 12
        chosen = [cause for cause in chosen if cause.number in (1, 10, 18)]
    with tempfile.TemporaryDirectory(prefix="explain-") as temporary:
        folder = Path(temporary)
        if "G" in options.sources:
            generate(outcome, chosen, range(options.first_seed, options.first_seed + (1 if options.smoke else options.seeds)), folder, options.smoke)
            steady.check(outcome, folder, chosen, say)
        for source in "RD":
            if source in options.sources and not options.smoke:
                recorded.record(options.python, outcome, source, chosen, range(options.first_seed, options.first_seed + recorded_seeds), folder, say)
    return outcome


def smoked(outcome):
    """A smoke test: every run has an answer, and the easiest causes are found."""
    easy = [run for run in outcome.runs if run.number == "1"]
    good = len(outcome.runs) == 3 and len(outcome.caught) == 3 and len(outcome.pairs) == 1
    good = good and all(run.faulty.where(run.rules) == 0 for run in easy) and all(run.saving > 0 for run in outcome.runs)
    good = good and all(one.same for one in outcome.steadiness)
    print(document.document(outcome))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
