"""The advice on memory snapshots against planted faults: the first finding names the planted one, and a healthy program gets none.

planted.py PROGRAM [--seeds N] [--kinds KIND,...] [--write DIR]      exits with 77 when ../shared is absent

--write keeps the snapshots and the truth about them in DIR.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MAKE = HERE.parent.parent.parent / "shared" / "tools" / "make_snapshot.py"
ABSENT = 77
RULES = {"leak": "A06", "fragmentation": "A07", "churn": "A08", "spike": "A09", "shortage": "A10", "healthy": None}


def findings(program, path):
    """Findings of the report, first one first, as dicts."""
    out = subprocess.run([program, "report", path, "--format", "json"], check=True, stdout=subprocess.PIPE, timeout=300).stdout
    verdict = next(r for r in json.loads(out)["reports"] if r["report"] == "verdict")
    table = next(t for t in verdict["tables"] if t["title"] == "Findings")
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def names_place(finding, places):
    """Whether the title or the evidence has the file and the line or function of one of the places "file(line): function"."""
    text = f"{finding['title']} {finding['evidence']}"
    for place in places:
        file, line, function = re.fullmatch(r"(.*)\((\d+)\): (.*)", place).groups()
        if re.search(rf"(?<!\w){re.escape(file)}", text) and re.search(rf"(?<!\w)({line}|{re.escape(function)})(?!\w)", text):
            return True
    return not places


def judge(program, folder, kind, seed):
    """(kind, seed, whether the first finding is right, whether the place is, other findings of these rules, the command and what it found)."""
    path = f"{folder}/{kind}-{seed}.pickle"
    command = [sys.executable, str(HERE / "faulty.py"), kind, str(seed), "-o", path, "--truth", f"{folder}/{kind}-{seed}.json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900)
    with open(f"{folder}/{kind}-{seed}.json", encoding="utf-8") as file:
        truth = json.load(file)
    found, wanted = findings(program, path), RULES[kind]
    others = [f["id"] for f in found if f["id"] in RULES.values() and f["id"] != wanted]
    first = found[0] if found else None
    right = not others if wanted is None else first is not None and first["id"] == wanted
    place = right and (first is None or names_place(first, truth.get("places", [])))
    said = "; ".join(f"{f['id']} {f['title']}" for f in found[:3]) or "no finding"
    wanted_text = f"{wanted or 'none of A06 to A10'}{' at ' + ' or '.join(truth['places']) if 'places' in truth else ''}"
    made = f"python3 test/snapshot/faulty.py {kind} {seed} -o {kind}-{seed}.pickle"
    return kind, seed, right, place, others, f"{kind} {seed}: wanted {wanted_text}; found {said}\n    {made}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=20, help="snapshots per kind of fault (default: 20)")
    parser.add_argument("--kinds", default=",".join(RULES), help="only these kinds, e.g. leak,healthy")
    parser.add_argument("--write", metavar="DIR", help="keep the snapshots and their truth in DIR")
    options = parser.parse_args()
    if not MAKE.exists():
        print(f"skipped: {MAKE} is absent")
        return ABSENT
    if options.write:
        os.makedirs(options.write, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [(kind, seed) for kind in options.kinds.split(",") for seed in range(options.seeds)]
        judged = list(pool.map(lambda run: judge(options.program, options.write or temporary, *run), runs))
    print(f"{'fault':14} {'seeds':>5} {'first right':>12} {'place right':>12}  others found")
    for kind in options.kinds.split(","):
        rows = [row for row in judged if row[0] == kind]
        others = sorted(other for row in rows for other in row[4])
        counts = ", ".join(f"{other} {others.count(other)}" for other in dict.fromkeys(others)) or "none"
        print(f"{kind:14} {len(rows):5} {sum(row[2] for row in rows):12} {sum(row[3] for row in rows):12}  {counts}")
    failed = [row[5] for row in judged if not row[3]]
    print("\n".join(failed) or "every first finding is the planted one")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
