"""Compares the text that people read with the files beside this one: screens unchanged, sentences with # for numbers.

wording.py PROGRAM            compares
wording.py PROGRAM --write    writes the files again
"""

import difflib
import html
import json
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
INPUT, SYNC, TINY, RANKS, IN_MAIN, WORKERS, STACKS = (f"examples/samples/{name}" for name in (
    "generated_slow_input.json.gz", "generated_item_sync.json.gz", "generated_tiny_kernels.json.gz", "generated_exposed_comm",
    "mlp_loader_in_main.pt.trace.json.gz", "mlp_two_workers.pt.trace.json.gz", "transformer_stacks_memory.pt.trace.json.gz"))
NUMBER = re.compile(r"(?<![\w.:-])\d+(?:[.,]\d+)*(?![\w-])")
REMEDY = "If the change is meant: make goldens, then read git diff test/wording."


def said(program, *words):
    shown = {"COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run([program, *words], cwd=ROOT, env={**os.environ, **shown}, check=True, stdout=subprocess.PIPE,
                          timeout=300).stdout.decode()


def head_of_page(program):
    """The words of the page's first screen, a line per element."""
    page = said(program, "report", INPUT, "--format", "html")
    head = page.split("<header>", 1)[1].split("</header>", 1)[0]
    lines = re.sub(r"<[^>]*>", "\n", head).split("\n")
    return "".join(html.unescape(line) + "\n" for line in lines if line.strip())


def told(program):
    """(file, source, sentence) for each sentence in the reports of some samples."""
    for trace in (INPUT, SYNC, TINY, RANKS, WORKERS, STACKS):
        for report in json.loads(said(program, "report", trace, "--format", "json"))["reports"]:
            name = report["report"]
            for note in report["notes"]:
                yield "notes.txt", name, note.replace(trace, "FILE")
            for table in report["tables"]:
                for row in table["rows"]:
                    cell = dict(zip((column["name"] for column in table["columns"]), row))
                    if table["title"] == "Verdict":
                        yield "findings.txt", "verdict", cell["headline"]
                    if table["title"] == "Findings":
                        for part in ("title", "because", "evidence", "remedy", "verify", "aside"):
                            yield "findings.txt", f"{cell['id']} {part}", cell[part]
                    if name in ("idle", "ledger"):
                        yield "findings.txt", f"{name} {cell.get('cause') or cell.get('owner')}", cell.get("meaning")
                        yield "findings.txt", f"{name} {cell.get('bound')}", cell.get("reason")


def texts(program):
    """The text of each file, by file name."""
    found = {
        "report.txt": said(program, "report", INPUT),
        "page.txt": head_of_page(program),
        "explain.txt": said(program, "explain", "I01", INPUT),
        "whatif.txt": said(program, "whatif", INPUT),
        "compare.txt": said(program, "diff", IN_MAIN, WORKERS) + "\n" + said(program, "gate", IN_MAIN, WORKERS),
    }
    sentences = {"findings.txt": set(), "notes.txt": set()}
    for file, who, sentence in told(program):
        if sentence:
            sentences[file].add(f"{who}: {NUMBER.sub('#', sentence)}\n")
    return found | {file: "".join(sorted(lines)) for file, lines in sentences.items()}


def check(program):
    found, wrong = texts(program), []
    for name in sorted(found.keys() | {file.name for file in FOLDER.glob("*.txt")}):
        file = FOLDER / name
        was = file.read_text() if file.exists() else ""
        wrong += difflib.unified_diff(was.splitlines(), found.get(name, "").splitlines(), name, name, n=0, lineterm="")
    print("\n".join([*wrong, REMEDY] if wrong else [f"{len(found)} files are as they were"]))
    return 1 if wrong else 0


def write(program):
    for name, text in texts(program).items():
        (FOLDER / name).write_text(text)
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    sys.exit(write(program) if sys.argv[2:] == ["--write"] else check(program))
