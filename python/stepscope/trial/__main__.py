"""The conductor of `stepscope try`: runs the program, holds it after a recording, tries changes on copies, and lets it go on."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from stepscope.trial import _findings, _statistics, _table, _view
from stepscope.trial._conductor import (
    Conductor,
    Copy,
    Ended,
    Failed,
    as_shell,
    forward_signals,
)
from stepscope.trial._copy import HOLD
from stepscope.trial._facts import Program
from stepscope.trial._trials import Limits, Result, Trials


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="stepscope try")
    parser.add_argument("--finding", action="append", default=[])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--end", action="store_true")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("-o", "--output", default="")
    parser.add_argument("--start-limit", type=float, default=120.0, help="seconds to a copy's first step, at least")
    parser.add_argument("--hang-limit", type=float, default=30.0, help="seconds for a copy's block of steps, at least")
    parser.add_argument("--only", default="", help="keys of changes, for tests")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(words)
    options.program = options.program[1:] if options.program[:1] == ["--"] else options.program
    options.finding = [one.strip() for text in options.finding for one in text.split(",") if one.strip()]
    return options


class Progress:
    """On stderr: one line that changes on a terminal, else a line per trial."""

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.width = 0

    def say(self, what: str) -> None:
        self.clear()
        print(f"stepscope: {what}", file=sys.stderr, flush=True)

    def show(self, what: str) -> None:
        if self.is_terminal:
            what = what[: max(shutil.get_terminal_size().columns - 1, 20)]
            print(f"\r{what.ljust(self.width)}", end="", file=sys.stderr, flush=True)
            self.width = len(what)

    def clear(self) -> None:
        if self.width:
            print("\r" + " " * self.width + "\r", end="", file=sys.stderr, flush=True)
            self.width = 0


class Try:
    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self.options = options
        self.recordings = scratch / "recordings"
        self.recordings.mkdir()
        self.progress = Progress()
        self.conductor = Conductor(options.program, scratch)
        self.base: Copy | None = None
        self.times: list[int] = []
        self.told: dict[str, Any] = {}
        self.first_step_s = 1.0
        self.results: list[Result] = []
        self.left: list[tuple[str, str]] = []
        self.notes: list[str] = []

    def run(self) -> int:
        try:
            self.base = self.conductor.base(self.recordings, self.options.format == "json" and not self.options.output)
        except OSError as error:
            print(f"stepscope: {self.options.program[0]}: {error.strerror}, so it was not started", file=sys.stderr)
            return 127
        forward_signals(self.base)
        try:
            if self.hold():
                self.try_all()
                self.put()
        except KeyboardInterrupt:
            if self.results:
                self.put()
        finally:
            self.progress.clear()
            self.conductor.close()
            code = self.finish()
        return code

    def hold(self) -> bool:
        """Records the program's first steps and holds it there. Whether there is something to try."""
        assert self.base is not None
        try:
            self.base.await_hello(None)
        except (Ended, Failed):
            self.progress.say("nothing was tried: no Python in it made a step with PyTorch, or it ended before its second step")
            return False
        self.told = self.base.hello.get("program", {})
        self.first_step_s = time.monotonic() - self.base.started
        try:
            block = self.base.turn(HOLD - 1, None)
        except Ended:
            self.progress.say("the program has ended; changes are tried on copies of it")
            return True
        except Failed as failure:
            self.progress.say(f"the program failed ({failure}), so nothing was tried")
            return False
        self.told, self.times = block.told.get("program", self.told), block.times
        self.notes += [f"Note: {error}" for error in block.told.get("errors", ())]
        return True

    def try_all(self) -> None:
        options = self.options
        if _view.spans_machines(options.program):
            self.left.append(("all", "the job spans several machines, and copies of it would have to start there too"))
            return
        program = Program.from_told(self.told)
        try:
            findings = _findings.findings_of(self.recordings)
        except Exception as error:
            self.notes.append(f"Note: the recording could not be read ({error}), so no finding is known")
            findings = []
        plan = _findings.plan(findings, program, options.finding, options.all)
        self.left += plan.left
        limits = Limits(options.seconds, options.steps, options.start_limit, options.hang_limit)
        trials = Trials(self.conductor, self.told, limits, self.progress.show)
        trials.first_step_s = self.first_step_s
        trials.step_s = self.step() / 1e9 or self.first_step_s
        trials.program_period = _statistics.period([float(one) for one in self.times[2:]])
        chosen = [one for one in plan.tried if not options.only or one[0].key in options.only.split(",")]
        if chosen:
            changes = "1 change" if len(chosen) == 1 else f"{len(chosen)} changes"
            self.progress.say(f"{changes} to try, up to about {options.seconds:.0f} s each; Ctrl-C prints what is known by then")
        for number, (change, promised) in enumerate(chosen, 1):
            self.progress.say(f"trial {number} of {len(chosen)}: {trials.name_of((change,))}")
            self.results.append(trials.run((change,), promised))
        self.try_together(trials)

    def try_together(self, trials: Trials) -> None:
        """All winners at once; of a group, the best."""
        best: dict[str, Result] = {}
        for one in self.results:
            key = one.changes[0].group or one.changes[0].key
            if one.won and (key not in best or one.saved.middle > best[key].saved.middle):
                best[key] = one
        if len(best) < 2:
            return
        changes = tuple(one.changes[0] for one in self.results if one in best.values())
        spans = [one.promised for one in best.values() if one.promised is not None]
        promised = (max(low for low, _ in spans), sum(high for _, high in spans)) if spans else None
        self.progress.say("trial of all that won: " + trials.name_of(changes))
        self.results.append(trials.run(changes, promised))

    def put(self) -> None:
        about = {
            "program": os.path.basename(next((one for one in self.options.program if one.endswith(".py")), self.options.program[0])),
            "step": self.step(),
            "cores": len(os.sched_getaffinity(0)),
            "facts": Program.from_told(self.told),
        }
        written = sorted({path for one in self.results for path in one.written})
        if written:
            names = ", ".join(written[:5]) + (f" and {len(written) - 5} more" if len(written) > 5 else "")
            self.notes.append(f"Note: copies wrote files that the program writes too: {names}")
        elif not self.conductor.view.is_throwaway and self.results:
            self.notes.append("Note: this system has no overlay for the working folder, so copies ran in it; they opened no file for writing.")
        if self.options.format == "json":
            text = _table.as_json(self.results, self.left, self.notes, about)
        else:
            colour = not self.options.output and sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
            text = _table.text(self.results, self.left, self.notes, about, colour)
        self.progress.clear()
        if self.options.output:
            Path(self.options.output).write_text(text)
        else:
            sys.stdout.write(text)
            sys.stdout.flush()

    def step(self) -> float:
        measured = [one.step for one in self.results if one.step]
        times = measured or [float(one) for one in self.times[2:]]
        return _statistics.median(sorted(times)) if times else 0.0

    def finish(self) -> int:
        """Lets the program go on, or ends it, and waits for it."""
        assert self.base is not None
        ran = self.base.process.poll() is not None
        if self.options.end and not ran:
            self.base.end()
            return 0
        if self.results and not ran:
            self.progress.say("the program goes on")
        self.base.let_go()
        while True:
            try:
                return as_shell(self.base.process.wait())
            except KeyboardInterrupt:
                continue


def scratch_folder() -> Path:
    """Outside the working folder, which copies see through an overlay."""
    here = os.getcwd()
    for folder in (tempfile.gettempdir(), "/var/tmp", "/dev/shm"):
        if not f"{os.path.realpath(folder)}/".startswith(here + "/") and os.access(folder, os.W_OK):
            return Path(tempfile.mkdtemp(prefix="stepscope-try-", dir=folder))
    return Path(tempfile.mkdtemp(prefix="stepscope-try-"))


def main(words: list[str]) -> int:
    options = arguments(words)
    if not options.program:
        print("stepscope: try needs a program after --: stepscope try -- python train.py", file=sys.stderr)
        return 2
    scratch = scratch_folder()
    try:
        return Try(options, scratch).run()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
