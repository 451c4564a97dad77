"""What is printed: promised and measured savings side by side."""

from __future__ import annotations

import json
import math
import shutil
from typing import Any

from stepscope.trial._trials import Result

GREEN, DIM, PLAIN = "\x1b[32m", "\x1b[2m", "\x1b[0m"
REASON = 300


def text(results: list[Result], left: list[tuple[str, str]], notes: list[str], about: dict[str, Any], colour: bool) -> str:
    lines = [heading(results, about)]
    measured = [one for one in results if not one.reason]
    lines += trials_of(measured, colour, shutil.get_terminal_size().columns)
    failed = [(one.name, one.reason) for one in results if one.reason]
    lines += section("Failed; the program goes on as it was", failed)
    lines += section("Not tried", left)
    lines += section("What may differ", [(one.name, may_differ(one)) for one in measured if one.won])
    chosen = to_write(results)
    if chosen is not None:
        lines += ["Write this", *(f"  {line}" for line in lines_of(chosen, about))]
    elif measured:
        lines.append("No change saves time beyond chance.")
    return "\n".join(lines + notes) + "\n"


def trials_of(measured: list[Result], colour: bool, columns: int) -> list[str]:
    """A row for each trial, or three lines where a row is wider than the terminal."""
    if not measured:
        return []
    rows = [("change", "promised", "measured per step", "loss", "memory")] + [row(one) for one in measured]
    widths = [max(len(one[i]) for one in rows) for i in range(5)]
    if 2 + sum(widths) + 2 * 4 <= columns:
        lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in rows]
        return [painted(line, DIM if i == 0 else GREEN if measured[i - 1].won else "", colour) for i, line in enumerate(lines)]
    lines = []
    for one in measured:
        name, promised, saved, loss, memory = row(one)
        lines.append(painted(f"  {name}", GREEN if one.won else "", colour))
        lines.append(f"    measured {saved}, promised {promised}" if one.promised else f"    measured {saved}")
        lines.append(f"    loss {loss}; memory {memory}" if memory else f"    loss {loss}")
    return lines


def painted(line: str, kind: str, colour: bool) -> str:
    return f"{kind}{line}{PLAIN}" if colour and kind else line


def heading(results: list[Result], about: dict[str, Any]) -> str:
    number = len(results)
    tried = "1 change" if number == 1 else f"{number or 'No'} changes"
    return f"{tried} tried on {about['program']}, {duration(about['step'])} a step, {about['cores']} cores"


def section(title: str, rows: list[tuple[str, str]]) -> list[str]:
    if not rows:
        return []
    width = min(max(len(name) for name, _ in rows), 40)
    return [title, *(f"  {name.ljust(width)}  {short(what)}" for name, what in rows)]


def short(what: str) -> str:
    return what if len(what) <= REASON else what[: REASON - 1] + "…"


def row(one: Result) -> tuple[str, str, str, str, str]:
    return (one.name, span(one.promised), measured_text(one), one.loss, memory(one))


def span(promised: tuple[int, int] | None) -> str:
    if promised is None:
        return "–"
    return f"{duration(promised[0])} – {duration(promised[1])}"


def measured_text(one: Result) -> str:
    found = one.saved
    unit, name = scale(max(abs(found.middle), abs(found.low), abs(found.high)))
    low, high = sorted((found.low, found.high))
    note = f"; {one.note}" if one.note else ""
    if found.low > 0:
        return f"{found.middle / unit:.3g} {name} ({low / unit:.3g} – {high / unit:.3g}) of {duration(one.step)}{note}"
    if found.high < 0:
        return f"slower by {-found.middle / unit:.3g} {name} ({-high / unit:.3g} – {-low / unit:.3g}) of {duration(one.step)}{note}"
    return f"nothing sure ({low / unit:+.3g} to {high / unit:+.3g} {name}) of {duration(one.step)}{note}"


def scale(ns: float) -> tuple[float, str]:
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= unit:
            return unit, name
    return 1e3, "µs"


def duration(ns: float) -> str:
    unit, name = scale(abs(ns))
    return "0" if ns == 0 else f"{ns / unit:.3g} {name}" if math.isfinite(ns) else "?"


def memory(one: Result) -> str:
    parts = []
    for (before, after), where in ((one.memory, ""), (one.device_memory, " on the GPU")):
        if before or after:
            parts.append(f"{before / 2**20:.0f} → {after / 2**20:.0f} MiB{where}")
    return ", ".join(parts)


def may_differ(one: Result) -> str:
    return "; ".join(dict.fromkeys(change.may_differ for change in one.changes))


def to_write(results: list[Result]) -> Result | None:
    """The combination if it saves most, else the change that does."""
    return max((one for one in results if one.won), key=lambda one: one.saved.middle / (one.step or 1), default=None)


def lines_of(chosen: Result, about: dict[str, Any]) -> list[str]:
    return [change.line(about["facts"]) for change in chosen.changes]


def as_json(results: list[Result], left: list[tuple[str, str]], notes: list[str], about: dict[str, Any]) -> str:
    chosen = to_write(results)
    document = {
        "program": about["program"],
        "step_ns": about["step"],
        "cores": about["cores"],
        "trials": [trial(one, about) for one in results],
        "not_tried": [{"what": what, "reason": reason} for what, reason in left],
        "write": [] if chosen is None else lines_of(chosen, about),
        "notes": notes,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def trial(one: Result, about: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"changes": [change.key for change in one.changes], "name": one.name, "promised_ns": one.promised}
    if one.reason:
        return {**told, "failed": one.reason}
    return {
        **told,
        "saved_ns": finite(one.saved.middle),
        "low_ns": finite(one.saved.low),
        "high_ns": finite(one.saved.high),
        "step_ns": finite(one.step),
        "blocks": one.blocks,
        "won": one.won,
        "note": one.note,
        "loss": one.loss,
        "may_differ": may_differ(one),
        "memory_bytes": one.memory,
        "device_memory_bytes": one.device_memory,
        "effects": one.effects,
        "write": lines_of(one, about),
    }


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
