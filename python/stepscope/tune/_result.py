"""What a search found: rows, the recommended settings, and how they are printed."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from html import escape
from typing import Any

from stepscope.trial._table import duration, finite
from stepscope.tune import _picture
from stepscope.tune._duel import Duel
from stepscope.tune._memory import mib
from stepscope.tune._search import Found
from stepscope.tune._settings import Settings, line_of, named


@dataclass(frozen=True)
class Row:
    name: str
    settings: Settings
    loading_ns: float
    """Per step, that the loop waited for its batch."""
    step_ns: float
    """Per step, with the share of a pass's start and end."""
    memory_bytes: int
    """Of all processes, what they share counted once. 0 if unknown."""
    verdict: str
    """Against the best before."""


@dataclass(frozen=True)
class Result:
    """Settings of a DataLoader, measured. Prints itself, and draws itself in a notebook."""

    rows: list[Row]
    current: Settings
    recommended: Settings
    line: str
    """The code to write; "" if nothing should change."""
    gain: tuple[float, float]
    """Where the saving of another measurement lies, as shares of the step; (0, 0) if nothing should change."""
    measured: tuple[float, float]
    """Nanoseconds per step now and as recommended, in the last measurement."""
    rounds: int
    """Of the last measurement."""
    workers_help: bool | None
    """None: not told apart from chance."""
    facts: dict[str, Any] = field(default_factory=dict)
    not_tried: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> dict[str, Any]:
        """Of ``DataLoader()``, as recommended."""
        return {name: value for name, value in self.recommended.arguments().items() if value is not None}

    @property
    def headline(self) -> str:
        low, high = self.gain
        if not self.line:
            if self.workers_help is None:
                return "no other setting was faster beyond chance"
            words = "the settings now are the best of those measured"
            return words if self.workers_help else f"{words}: workers do not help"
        before, after = self.measured
        saves = f"saves {100 * low:.0f} – {100 * high:.0f} % of a step: {duration(before)} → {duration(after)}, measured again in {self.rounds} rounds"
        return f"{saves}; workers do not help" if self.workers_help is False else saves

    @property
    def text(self) -> str:
        """The table, the picture over workers, and what to write."""
        lines = [f"{self.facts['what']}, {count(self.facts['cores'], 'core')}; {self.facts['steps']}"]
        head = ("setting", "loading per step", "step", "memory", "against the best before")
        cells = [head, *((row.name, wait(row), duration(row.step_ns), size(row), row.verdict) for row in self.rows)]
        widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
        lines += ["  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells]
        lines += _picture.bars(self.by_workers(), self.recommended.num_workers)
        lines += ["Write this", f"  {self.line}", f"It {self.headline}."] if self.line else [f"{self.headline[:1].upper()}{self.headline[1:]}."]
        if self.not_tried:
            width = max(len(what) for what, _ in self.not_tried)
            lines += ["Not tried", *(f"  {what.ljust(width)}  {why}" for what, why in self.not_tried)]
        return "\n".join(lines + [f"Note: {one}" for one in self.notes]) + "\n"

    def __str__(self) -> str:
        return self.text

    def by_workers(self) -> list[tuple[int, float, float]]:
        """Workers, and the recommended setting's step with so many, else the shortest, and its loading, nanoseconds."""
        best: dict[int, Row] = {}
        for row in self.rows:
            known = best.get(row.settings.num_workers)
            if known is None or row.settings == self.recommended or (known.settings != self.recommended and row.step_ns < known.step_ns):
                best[row.settings.num_workers] = row
        rows = [best[workers] for workers in sorted(best)]
        return [(row.settings.num_workers, row.step_ns, row.loading_ns if math.isfinite(row.loading_ns) else 0.0) for row in rows]

    def svg(self) -> str:
        """Step time over workers, as a picture."""
        return _picture.svg(self.by_workers(), self.recommended.num_workers, self.facts["what"], self.headline)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(row.name)}</td><td>{wait(row)}</td><td>{duration(row.step_ns)}</td>"
            f"<td>{size(row)}</td><td>{escape(row.verdict)}</td></tr>"
            for row in self.rows
        )
        write = f"<pre>{escape(self.line)}</pre>" if self.line else ""
        left = "".join(f"<li>{escape(what)}: {escape(why)}</li>" for what, why in self.not_tried)
        return (
            f"<p>{escape(self.facts['what'])}; {escape(self.facts['steps'])}</p>"
            "<table><tr><th>setting</th><th>loading per step</th><th>step</th><th>memory</th><th>against the best before</th></tr>"
            f"{rows}</table>{self.svg()}{write}<p>{escape(self.headline)}</p><details><summary>Not tried</summary><ul>{left}</ul></details>"
        )

    def to_json(self) -> str:
        document = {
            "loader": self.facts["what"],
            "cores": self.facts["cores"],
            "steps": self.facts["steps"],
            "rows": [{**vars(row), "loading_ns": finite(row.loading_ns), "settings": row.settings.told()} for row in self.rows],
            "current": self.current.told(),
            "recommended": self.recommended.told(),
            "write": self.line,
            "gain": self.gain,
            "step_ns": self.measured,
            "rounds": self.rounds,
            "workers_help": self.workers_help,
            "not_tried": [{"what": what, "reason": reason} for what, reason in self.not_tried],
            "notes": self.notes,
        }
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def wait(row: Row) -> str:
    return duration(row.loading_ns) if math.isfinite(row.loading_ns) else "–"


def size(row: Row) -> str:
    return mib(row.memory_bytes) if row.memory_bytes else "–"


def result_of(found: Found) -> Result:
    current, best, final = found.current, found.best, found.confirmed
    rows = rows_of(found)
    line = line_of(best, current, found.facts.place)
    gain, measured, rounds = (0.0, 0.0), (0.0, 0.0), 0
    if final is not None:
        gain, rounds = final.promise, len(final.shares)
        measured = (final.first.step, final.first.step * (1 - final.saved.middle))
    facts = {"what": found.facts.what, "cores": found.facts.cores, "steps": found.facts.steps}
    return Result(rows, current, best, line, gain, measured, rounds, workers_help(found), facts, found.not_tried, found.notes)


def workers_help(found: Found) -> bool | None:
    if found.best.num_workers:
        return True
    others = [one for one in found.duels if one.before.num_workers != one.after.num_workers]
    told_apart = [one.is_decided and not (one.won and one.after.num_workers) for one in others]
    return False if told_apart and all(told_apart) else None


def rows_of(found: Found) -> list[Row]:
    """A row per setting. Each step time is the best one's before it, less what was saved in the same rounds: a machine that became slower
    between two duels changes no row."""
    current = found.current
    if not found.duels:
        return [Row(f"{named(current, current)} (now)", current, math.nan, found.facts.step, 0, "")]
    first = found.duels[0].first
    rows = {current: Row(f"{named(current, current)} (now)", current, first.wait, first.step, first.memory, "")}
    for duel in found.duels:
        before = rows[duel.before]
        step = before.step_ns * (1 - duel.saved.middle)
        scale = step / duel.second.step if duel.second.step else 1.0
        name = named(duel.after, current)
        rows[duel.after] = Row(name, duel.after, duel.second.wait * scale, step, duel.second.memory, verdict(duel, before))
    return list(rows.values())


def verdict(duel: Duel, before: Row) -> str:
    """In words, with the interval of what is saved."""
    against = f"of {before.name.replace(' (now)', '')}"
    found = duel.saved
    low, high = (found.low, found.high) if math.isfinite(found.low) else (min(duel.shares), max(duel.shares))
    if duel.won:
        return f"saves {100 * low:.0f} – {100 * high:.0f} % {against}"
    if duel.lost:
        if low < -1:
            return f"{1 - high:.1f} – {1 - low:.1f} times the step {against}"
        return f"slower by {-100 * high:.0f} – {-100 * low:.0f} % {against}"
    return f"{'equal' if duel.is_decided else 'not told apart'} ({100 * low:+.0f} to {100 * high:+.0f} %) {against}"
