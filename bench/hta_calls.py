"""Runs HTA's calls through HTA and through stepscope.hta, on the same file, and compares their answers."""
import json
from dataclasses import dataclass
from pathlib import Path

from peer_setup import ROOT, attempt
from timing import Command, interleave

PROGRAM = ROOT / "bench/peers/hta_calls.py"
CALL_LIMIT_S = 120
CLOSE = 1e-6


@dataclass
class Calls:
    """`theirs` and `ours` as bench/peers/hta_calls.py prints them; `missing`: why there is nothing to compare."""

    path: Path
    theirs: dict = None
    ours: dict = None
    missing: str = ""


def install(python, say):
    """Installs the package of this tree as a user builds it."""
    say("  building the Python package")
    return attempt([str(python), "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", "--disable-pip-version-check",
                    f"--config-settings=build-dir={ROOT}/build/bench-python", str(ROOT)]) or attempt(
                        [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "pyarrow"])


def measure(python, path, folder, say):
    calls = Calls(path)
    calls.missing = install(python, say)
    if calls.missing:
        return calls
    commands = [Command(module, [str(python), str(PROGRAM), module, str(path), str(CALL_LIMIT_S)], 1, 0, 3600)
                for module in ("stepscope.hta", "hta.trace_analysis")]
    figures = interleave(commands, folder, say)
    answers = []
    for command in commands:
        mine = figures[command.key]
        if not mine.ok:
            calls.missing = mine.failed
            return calls
        answers.append(json.loads(mine.outputs[0].text.splitlines()[-1]))
    calls.ours, calls.theirs = answers
    return calls


def same(ours, theirs):
    """"yes", or what differs."""
    if ours["rows"] != theirs["rows"]:
        return f"{ours['rows']} and {theirs['rows']} rows"
    other = [name for name, sum_ in theirs["sums"].items()
             if name in ours["sums"] and abs(ours["sums"][name] - sum_) > CLOSE * max(abs(sum_), 1)]
    return "yes" if not other else f"not in {', '.join(other)}"


@dataclass
class Row:
    """One call. Seconds and ratios are None where there are none; `again`: ours, when the call is repeated."""

    name: str
    theirs: float = None
    first: float = None
    again: float = None
    ratio: float = None
    with_opening: float = None
    same: str = ""


def row(name, calls):
    ours, theirs = calls.ours["calls"][name], calls.theirs["calls"][name]
    if "s" not in ours:
        return Row(name, theirs.get("s"), same=ours["failed"])
    with_opening = calls.ours["open_s"] + ours["s"]
    if "s" not in theirs:
        stopped = theirs["failed"].startswith("stopped")
        return Row(name, None, ours["s"], ours["again_s"], None,
                   (calls.theirs["open_s"] + CALL_LIMIT_S) / with_opening if stopped else None, f"HTA {theirs['failed']}")
    return Row(name, theirs["s"], ours["s"], ours["again_s"], theirs["s"] / ours["again_s"],
               (calls.theirs["open_s"] + theirs["s"]) / with_opening, same(ours, theirs))


def rows(calls):
    return [row(name, calls) for name in calls.ours["calls"]]
