"""The gate on pairs of generated recordings: better, worse, inconclusive. Usage: gate_test.py STEPSCOPE MAKE_TRACE FOLDER"""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree

PROGRAM, MAKE_TRACE, FOLDER = (os.path.abspath(path) for path in sys.argv[1:4])

# Recordings, as options of make_trace.
RECORDINGS = {
    "slow": ["--slow-input", "25", "--steps", "10", "--seed", "1"],
    "fast": ["--slow-input", "25", "--without", "slow_input", "--steps", "10", "--seed", "2"],
    "again": ["--slow-input", "25", "--without", "slow_input", "--steps", "10", "--seed", "3"],
    "few": ["--steps", "3", "--seed", "4"],
    "fewer": ["--steps", "3", "--seed", "7"],
    "shapes": ["--shapes", "--steps", "10", "--seed", "6"],
    "wide": ["--hidden", "2048", "--shapes", "--steps", "10", "--seed", "5"],
}
# More runs of "slow" and "fast".
RUNS = {side + str(seed): options[:-1] + [str(seed)]
        for side, options in list(RECORDINGS.items())[:2] for seed in (11, 12, 13)}
# BASE, NEW, the exit code, the outcome, and words of the reason.
PAIRS = [
    ("slow", "fast", 0, "pass", "within the limit"),
    ("fast", "slow", 1, "regression", "beyond the limit"),
    ("few", "fewer", 3, "inconclusive", "too few steps to know the noise; record"),
    ("fast", "fast", 3, "inconclusive", "BASE and NEW are the same recording"),
    ("fast", "again", 0, "pass", "within the limit"),
    ("fast", "shapes", 3, "inconclusive", "Only NEW records shapes"),
    ("shapes", "wide", 3, "inconclusive", "shapes, types or batches differ"),
]


def path(name):
    return os.path.join(FOLDER, name + ".json")


def gate(base, new, *more):
    done = subprocess.run([PROGRAM, "gate", path(base), path(new), *more], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout


def check(condition, words):
    if not condition:
        sys.exit("gate: " + words)


def check_pair(base, new, code, outcome, words):
    pair = f"{base} against {new}: "
    for form, opening in (("text", outcome.capitalize()), ("markdown", f"### "), ("junit", "<?xml")):
        got, out = gate(base, new, "--format", form)
        check(got == code, f"{pair}exit code {got}, not {code}\n{out}")
        check(out.startswith(opening), pair + out)
        check(words in " ".join(out.split()), f"{pair}no '{words}' in\n{out}")
    suite = xml.etree.ElementTree.fromstring(out)
    counts = (int(suite.get("tests")), int(suite.get("failures")), int(suite.get("errors")))
    check(counts == (1, outcome == "regression", outcome == "inconclusive"), f"{pair}{counts} in\n{out}")
    markdown = gate(base, new, "--format", "markdown")[1]
    check(f"stepscope gate: {outcome}" in markdown and f"| {outcome} |" in markdown, pair + markdown)


def check_pages():
    """The pages for a browser have the same tables as the terminal."""
    page = gate("fast", "slow", "--format", "html")[1]
    check("<h1>Regression: step.total" in page and "<h3>Checks</h3>" in page, "no checks in the page of a gate")
    done = subprocess.run([PROGRAM, "diff", path("slow"), path("fast"), "--format", "html"], capture_output=True, text=True,
                          timeout=120, check=True)
    for title in ("Step, part by part (means)", "What changed, per step", "By module", "By operator", "How it adds up"):
        check(f"<h3>{title}</h3>" in done.stdout, f"no '{title}' in the page of a diff")
    check("<h3>Verdict</h3>" not in done.stdout, "the headline of a diff stands twice")


def check_history():
    """A folder of earlier runs is BASE; the newest run, or a given one, is NEW."""
    nightly = os.path.join(FOLDER, "nightly")
    os.makedirs(nightly, exist_ok=True)
    for name in os.listdir(nightly):
        os.remove(os.path.join(nightly, name))
    for name in [name for name in RUNS if name.startswith("fast")] + ["fast", "again"]:
        shutil.copy(path(name), nightly)
    history = ["--history", nightly, "--fail-on", "step.total>10%"]
    for new, code in (("slow", 1), ("few", 3), ("shapes", 3)):
        got, out, _ = history_gate(*history, path(new))
        check(got == code, f"{new} after a history: exit code {got}, not {code}\n{out}")
    got, out, _ = history_gate(*history)
    check(got == 0, f"the newest of a history: exit code {got}\n{out}")
    tables = json.loads(history_gate(*history, "--format", "json")[1])["tables"]
    trend = next(table for table in tables if table["title"] == "Trend")
    check(len(trend["rows"]) == 5, f"a trend of {len(trend['rows'])} recordings, not 5")
    shutil.copy(path("slow"), nightly)
    for name in [name for name in RUNS if name.startswith("slow")]:
        shutil.copy(path(name), nightly)
    got, out, _ = history_gate(*history)
    check("step.total changed at" in " ".join(out.split()), f"no change point in\n{out}")
    got, _, error = history_gate("--history", os.path.join(FOLDER, "absent"))
    check(got == 2 and "folder of recordings" in error, error)
    check(history_gate(*history, path("slow"), path("fast"))[0] == 2, "two recordings beside a history are not exit code 2")


def history_gate(*words):
    done = subprocess.run([PROGRAM, "gate", *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name, options in {**RECORDINGS, **RUNS}.items():
        subprocess.run([MAKE_TRACE, *options, "--out", path(name)], check=True, capture_output=True)
    for pair in PAIRS:
        check_pair(*pair)
    check_pages()
    check_history()
    limits = ["--fail-on", "step.kernel>5%", "--fail-on", "step.data_loader>1ms"]
    code, out = gate("fast", "slow", *limits)
    check(code == 1 and "step.data_loader" in out.splitlines()[0], out)
    runs = [word for name in RUNS for word in ("--base" if name.startswith("fast") else "--new", path(name))]
    code, out = gate("fast", "slow", *runs)
    check(code == 1, f"four runs a side: exit code {code}\n{out}")
    check(gate("fast", "absent")[0] == 2, "an absent recording is not exit code 2")
    out = gate("fast", "slow", "--fail-on", "kernels.total[nix]>5%")[1]
    check("no row 'nix' in \"Kernels by name\"" in " ".join(out.split()), out)
    for senseless in ("", "step.total", "step.total>5", "step.total>5MiB", "step.total[7]>5%", "kernels.total[a>5%",
                      "kernels.nothing[a]>5%", "kernels.count[a]>5ms"):
        check(gate("fast", "slow", "--fail-on", senseless)[0] == 2, f"'{senseless}' is not exit code 2")
    check(gate("fast", "slow", "--base", path("fast"))[0] == 2, "one recording twice is not exit code 2")


main()
