"""stepscope's answers about a recording, parsed from its JSON."""
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build" / "release" / "stepscope"
SHOWN = 0.01  # of the step: the min saving that counts
SHARE_SHOWN = 0.005  # of the window: the min share of a ledger row
SILENT = ("unknown", "too little to judge", "host times only")


@dataclass(frozen=True)
class Found:
    rule: str
    title: str
    low: int
    high: int
    confidence: str
    remedy: str
    now: bool


@dataclass(frozen=True)
class Health:
    row: str
    grade: str
    what: str


@dataclass(frozen=True)
class Answer:
    bound: str
    headline: str
    step: int  # ns
    together: tuple  # (low, high) in ns, or None
    found: tuple
    health: tuple
    ledger: str

    def where(self, rules):
        """Index of the first finding of one of `rules`; None without one."""
        return next((i for i, one in enumerate(self.found) if one.rule in rules), None)

    def notable(self, one):
        return one.now and one.low >= SHOWN * self.step

    def cannot_tell(self):
        return self.bound in SILENT[:2]


def table(document, title):
    for report in document["reports"]:
        for one in report["tables"]:
            if one["title"] == title:
                names = [column["name"] for column in one["columns"]]
                return [dict(zip(names, row)) for row in one["rows"]]
    return []


def report_bytes(trace, threads=0):
    """The whole report as JSON, byte for byte."""
    command = [str(PROGRAM), "report", str(trace), "--format", "json", "-j", str(threads)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout



def answer_of(trace):
    document = json.loads(report_bytes(trace))
    verdict = table(document, "Verdict")[0]
    found = tuple(Found(row["id"], row["title"], row["saving_low"] or 0, row["saving_high"] or 0, row["confidence"],
                        row["remedy"], row["when"] == "now") for row in table(document, "Findings"))
    health = tuple(Health(row["id"], row["class"], row["what"]) for row in table(document, "Health"))
    together = None
    if verdict["together_low"] is not None:
        together = (verdict["together_low"], verdict["together_high"])
    return Answer(verdict["bound"], verdict["headline"], verdict["step"] or 1, together, found, health, ledger_lines(document))


def ledger_lines(document):
    """Lines like "idle input: 16.90 ms per step (61 %)" for all that matters on the first device of the first rank."""
    lines, rows = [], table(document, "Ledger")
    first = [(row.get("rank"), row.get("device")) for row in rows[:1]]
    for row in rows:
        named = " ".join(str(row[key]) for key in ("owner", "cause") if row.get(key))
        if (row.get("share") or 0) >= SHARE_SHOWN and (row.get("rank"), row.get("device")) in first:
            lines.append(f"{named} {(row.get('per_step') or 0) / 1e6:.2f} ms ({row['share'] * 100:.1f} %)")
    return ", ".join(lines) or "none"
