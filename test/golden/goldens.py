"""Compares every analysis with goldens, for each trace of traces.txt beside this file: numbers, names and structure, no sentences.

goldens.py PROGRAM TRACE     compares them line by line; exits with 77 when the trace is absent
goldens.py PROGRAM --write   writes them again, of every trace that is present
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
ROWS = 8  # rows of each table: as many as a person still reads
LISTS_OF_FACTS = ("overview", "event")  # these are written whole
SENTENCES = {  # columns of prose, by analysis
    "findings": {"title", "aside", "because", "evidence", "remedy", "verify"},
    "idle": {"meaning"},
    "ledger": {"meaning", "reason"},
}
# The facts of a sentence: places in the code, ids of rules, numbers with their units.
PLACE = r"[\w./-]+\.\w+(?::\d+|\(\d+\))"
RULE = r"\b[A-Z]\d\d\b"
UNIT = r"%|(?:[nµm]?s|min|h|[KMGT]?i?B(?:/s)?|[MGTP]?FLOP(?:/[sB])?)\b"
NUMBER = rf"(?<![\w.-])\d+(?:,\d{{3}})*(?:\.\d+)?(?![\w-]|\.\d)(?: (?:{UNIT}))?"
FACT = re.compile(f"{PLACE}|{RULE}|{NUMBER}")
ABSENT = 77  # ctest's exit code for skipped
REMEDY = "If the change is meant: make goldens, then read git diff test/golden."


def traces():
    """Folder name to the trace's path and an event's id."""
    lines = [line.split() for line in (FOLDER / "traces.txt").read_text().splitlines() if not line.startswith("#")]
    return {folder: (path, event) for folder, path, event in lines}


def said(program, *words):
    return subprocess.run([program, *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, timeout=300).stdout.decode()


def facts(sentence):
    """Each fact of a sentence once, sorted; wording and order do not count."""
    return sorted(set(FACT.findall(sentence)))


def json_of(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def reduced(answer):
    """An answer as a golden: one line per row, the first rows and the last of a curve, the facts of a sentence."""
    prose = SENTENCES.get(answer["report"], ())
    tables = []
    for table in answer["tables"]:
        rows = table["rows"]
        if answer["report"] not in LISTS_OF_FACTS and len(rows) > ROWS:
            rows = rows[: ROWS - 1] + rows[-1:] if table["shape"] == "curve" else rows[:ROWS]
        places = [i for i, column in enumerate(table["columns"]) if column["name"] in prose]
        for row in rows:
            for i in places:
                row[i] = row[i] and facts(row[i])
        head = json_of({**table, "rows": []}).removesuffix("]}")
        tables.append(head + ",".join("\n" + json_of(row) for row in rows) + "]}")
    head = json_of({"report": answer["report"], "tables": []}).removesuffix("]}")
    return head + ",\n".join(tables) + '],"notes":' + json_of([facts(note) for note in answer["notes"]]) + "}\n"


def answered_at_once(program, path):
    """The answers in `report`, by analysis; none if the recording lacks something, which `show` says in each answer and `report` only once."""
    verdict, *rest = json.loads(said(program, "report", path, "--format", "json"))["reports"]
    health = verdict["tables"][2]
    grade = [column["name"] for column in health["columns"]].index("class")
    return {} if {row[grade] for row in health["rows"]} - {"C"} else {answer["report"]: answer for answer in rest}


def answers(program, path, event):
    """File name to text: one file per analysis."""
    at_once, found = answered_at_once(program, path), {}
    for name, _, options in json.loads(said(program, "list", "--format", "json"))["tables"][0]["rows"]:
        asked = ["--id", event] if "--id" in (options or "").split() else []
        answer = at_once.get(name) or json.loads(said(program, "show", name, path, "--format", "json", *asked))
        found[name + ".json"] = reduced(answer)
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
