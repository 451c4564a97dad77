"""The answers of every analysis to each trace of traces.txt, beside this file.

goldens.py PROGRAM TRACE     compares them byte for byte; 77 when the trace is absent
goldens.py PROGRAM --write   writes them again, of every trace that is present
"""

import itertools
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
ROWS = "8"  # of each table: what a person still reads
LISTS_OF_FACTS = ("overview", "event")  # these are shown whole
ABSENT = 77  # ctest's word for skipped
REMEDY = "If the change is meant: make goldens, then read git diff test/golden."


def traces():
    """Folder name to the trace's path and an event's id."""
    lines = [line.split() for line in (FOLDER / "traces.txt").read_text().splitlines() if not line.startswith("#")]
    return {folder: (path, event) for folder, path, event in lines}


def said(program, *words):
    return subprocess.run([program, *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, timeout=300).stdout.decode()


def with_short_curves(text):
    """Of each curve, which --top leaves whole, the first rows and the last one; a row is a line."""
    kept, row = [], None
    for line in text.splitlines(keepends=True):
        if line.startswith("{"):
            row = 0 if '"shape":"curve"' in line else None
        elif row is not None:
            row += 1
        if row is None or row < int(ROWS) or "]]}" in line:
            kept.append(line)
    return "".join(kept)


def answers(program, path, event):
    """File name to text: one file per analysis."""
    found = {}
    for name, _, options in json.loads(said(program, "list", "--format", "json"))["tables"][0]["rows"]:
        asked = ["--id", event] if "--id" in (options or "").split() else []
        rows = [] if name in LISTS_OF_FACTS else ["--top", ROWS]
        found[name + ".json"] = with_short_curves(said(program, "show", name, path, "--format", "json", *rows, *asked))
    return found


def difference(name, expected, actual):
    """The first line that differs, or None."""
    if expected is None:
        return f"{name} is missing: there is no golden of this analysis."
    if actual is None:
        return f"{name} belongs to no analysis."
    pairs = itertools.zip_longest(expected.splitlines(), actual.splitlines(), fillvalue="(the end)")
    for number, (old, new) in enumerate(pairs, 1):
        if old != new:
            return f"{name}:{number}\n  expected {old}\n  actual   {new}"
    return None


def check(program, trace):
    path, event = traces()[trace]
    if not (ROOT / path).exists():
        print(f"skipped: {path} is absent")
        return ABSENT
    actual = answers(program, path, event)
    expected = {file.name: file.read_text() for file in (FOLDER / trace).glob("*")}
    names = sorted(actual.keys() | expected.keys())
    found = [difference(f"test/golden/{trace}/{name}", expected.get(name), actual.get(name)) for name in names]
    wrong = [sentence for sentence in found if sentence]
    print("\n".join([*wrong, REMEDY] if wrong else [f"{len(names)} answers are as they were"]))
    return 1 if wrong else 0


def write(program):
    for trace, (path, event) in traces().items():
        if not (ROOT / path).exists():
            print(f"left as they are: the goldens of {trace}; {path} is absent")
            continue
        actual = answers(program, path, event)
        (FOLDER / trace).mkdir(exist_ok=True)
        for file in (FOLDER / trace).glob("*"):
            if file.name not in actual:
                file.unlink()
        for name, text in actual.items():
            (FOLDER / trace / name).write_text(text)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    sys.exit(write(program) if sys.argv[2] == "--write" else check(program, sys.argv[2]))
