"""What the report of the program's recording promises, and which changes may keep the promise."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepscope.trial._facts import Program
from stepscope.trial.changes import Change, all_changes


@dataclass(frozen=True)
class Finding:
    rule: str
    title: str
    remedy: str
    low: int
    """Saved, nanoseconds per step."""
    high: int


@dataclass
class Plan:
    """What is tried, and what is not and why."""

    tried: list[tuple[Change, tuple[int, int] | None]] = field(default_factory=list)
    """With what the report promises."""
    left: list[tuple[str, str]] = field(default_factory=list)
    """A rule or change, and the reason."""


def table(document: dict[str, Any], title: str) -> list[dict[str, Any]]:
    for report in document.get("reports", ()):
        for one in report["tables"]:
            if one["title"] == title:
                names = [column["name"] for column in one["columns"]]
                return [dict(zip(names, row)) for row in one["rows"]]
    return []


def findings_of(recordings: Path) -> list[Finding]:
    """Those of the report, dearest first, each rule once. Empty if there is no recording."""
    import stepscope

    if not any(recordings.glob("*.stepscope")):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with stepscope.open(recordings) as trace:
            document = json.loads(trace.report().to_json())
    found: dict[str, Finding] = {}
    for row in table(document, "Findings"):
        one = Finding(row["id"], row["title"], row["remedy"] or "", row["saving_low"] or 0, row["saving_high"] or 0)
        if one.rule not in found or found[one.rule].high < one.high:
            found[one.rule] = one
    return list(found.values())


def plan(findings: list[Finding], program: Program, asked: list[str], every: bool) -> Plan:
    """``asked``: only these rules. ``every``: also changes that no finding asks for."""
    made = Plan()
    wanted = {one.rule: one for one in findings if not asked or one.rule in asked}
    rules = list(wanted) + [rule for rule in asked if rule not in wanted]
    changes = all_changes()
    refused: dict[str, list[str]] = {}
    for change in changes:
        answered = [rule for rule in rules if rule in change.answers]
        if not answered and not every:
            continue
        reason = change.reason(program)
        if not reason:
            made.tried.append((change, promised([wanted[rule] for rule in answered if rule in wanted])))
        elif answered:
            for rule in answered:
                made.left.append((rule, f"{change.name}: {reason}"))
        else:
            refused.setdefault(reason, []).append(change.name)
    made.tried.sort(key=lambda one: -(one[1][1] if one[1] is not None else -1))
    tried = {rule for change, _ in made.tried for rule in change.answers}
    reasons: dict[str, list[str]] = {}
    for rule, why in made.left:
        if rule not in tried:
            reasons.setdefault(rule, []).append(why)
    made.left = [(rule, "; ".join(why)) for rule, why in reasons.items()]
    for rule in rules:
        if not any(rule in change.answers for change in changes):
            made.left.append((rule, by_hand(wanted.get(rule))))
    made.left += [(", ".join(names), reason) for reason, names in refused.items()]
    return made


def promised(findings: list[Finding]) -> tuple[int, int] | None:
    best = max(findings, key=lambda one: one.high, default=None)
    return None if best is None or best.high <= 0 else (best.low, best.high)


def by_hand(finding: Finding | None) -> str:
    if finding is None:
        return "the report does not have it, and no change from outside answers it"
    first = re.split(r"(?<=[a-z)\]])[.;] ", finding.remedy or finding.title)[0].rstrip(".")
    return f"to be changed by hand: {first}"
