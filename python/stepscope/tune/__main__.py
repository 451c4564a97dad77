"""`stepscope tune -- python train.py`: copies of a program take turns with other settings of its DataLoader."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from stepscope.trial import _view
from stepscope.trial.__main__ import Progress, scratch_folder
from stepscope.trial._conductor import Conductor
from stepscope.tune._program_meter import NoLoader, ProgramMeter
from stepscope.tune._result import Result, result_of
from stepscope.tune._search import Search


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="stepscope tune")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--total", type=float, default=600.0)
    parser.add_argument("--workers", default="")
    parser.add_argument("--drop-last", action="store_true")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("-o", "--output", default="")
    parser.add_argument("--start-limit", type=float, default=120.0, help="seconds to a copy's first step, at least")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(words)
    options.program = options.program[1:] if options.program[:1] == ["--"] else options.program
    return options


def tune(options: argparse.Namespace, scratch: Path) -> int:
    progress = Progress()
    if _view.spans_machines(options.program):
        progress.say("nothing was measured: the job spans several machines, and copies of it would have to start there too")
        return 1
    conductor = Conductor(options.program, scratch)
    try:
        meter = ProgramMeter(conductor, options.steps, options.seconds, options.total, progress.show)
        meter.limits.start_s = options.start_limit
        progress.say("a first copy of the program shows which DataLoader its steps iterate; Ctrl-C ends everything")
        meter.look(options.start_limit)
        progress.say(f"{meter.facts.what}, made at {meter.facts.place or 'an unknown place'}")
        workers = [int(one) for one in options.workers.split(",")] if options.workers else None
        search = Search(meter, workers, ("drop_last",) if options.drop_last else (), progress.say)
        try:
            found = search.run()
        except KeyboardInterrupt:
            found = search.interrupted()
        if not conductor.view.is_throwaway:
            found.notes.append("This system has no overlay for the working folder, so copies ran in it: files that the program writes there were written.")
        put(result_of(found), options)
    except NoLoader as error:
        progress.clear()
        progress.say(f"nothing was measured: {error}")
        return 1
    except OSError as error:
        progress.say(f"{options.program[0]}: {error.strerror}, so it was not started")
        return 127
    except KeyboardInterrupt:
        return 130
    finally:
        progress.clear()
        conductor.close()
    return 0


def put(result: Result, options: argparse.Namespace) -> None:
    """Prints the result. An output file that ends in .svg gets the picture, one that ends in .html both."""
    text = result.to_json() if options.format == "json" else result.text
    output = Path(options.output) if options.output else None
    if output is None or output.suffix in (".svg", ".html"):
        sys.stdout.write(text)
        sys.stdout.flush()
    if output is not None:
        html = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>stepscope tune</title>{result._repr_html_()}</html>\n'
        output.write_text({".svg": result.svg(), ".html": html}.get(output.suffix, text))


def interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def main(words: list[str]) -> int:
    options = arguments(words)
    if not options.program:
        print("stepscope: tune needs a program after --: stepscope tune -- python train.py", file=sys.stderr)
        return 2
    for one in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, interrupt)
    scratch = scratch_folder()
    try:
        return tune(options, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
