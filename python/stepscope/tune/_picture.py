"""Step time over workers: bars of text, and an SVG."""

from __future__ import annotations

from html import escape

from stepscope.trial._table import duration

WIDTH = 40
"""Characters of the longest bar."""
LOADS, WORKS = "█", "▒"
Points = list[tuple[int, float, float]]
"""Workers, nanoseconds of a step, and of these how many it waits for its batch."""


def bars(points: Points, recommended: int) -> list[str]:
    """A line per count of workers. Nothing if only one was measured."""
    longest = max((step for _, step, _ in points), default=0.0)
    if len(points) < 2 or not longest > 0:
        return []
    lines = [f"Step time over workers ({LOADS} waits for its batch, {WORKS} the rest)"]
    for workers, step, loading in points:
        whole = max(round(WIDTH * step / longest), 1)
        waits = min(round(WIDTH * loading / longest), whole)
        mark = "  ← recommended" if workers == recommended else ""
        lines.append(f"  {workers:3d}  {(LOADS * waits + WORKS * (whole - waits)).ljust(WIDTH)}  {duration(step)}{mark}")
    return lines


LEFT, TOP, ROW, BAR = 96, 58, 34, 22
LONGEST = 440
COLOURS = {"loading": "#d7301f", "rest": "#9aa5b1"}


def svg(points: Points, recommended: int, title: str, headline: str) -> str:
    """A bar per count of workers, split into waiting and the rest."""
    longest = max((step for _, step, _ in points), default=0.0) or 1.0
    height = TOP + ROW * len(points) + 44
    drawn = []
    for row, (workers, step, loading) in enumerate(points):
        y = TOP + row * ROW
        whole, waits = LONGEST * step / longest, LONGEST * min(max(loading, 0.0), step) / longest
        name = f"{workers} worker" + ("" if workers == 1 else "s")
        mark = ", recommended" if workers == recommended else ""
        weight = ' font-weight="bold"' if mark else ""
        drawn.append(
            f'<text x="{LEFT - 10}" y="{y + 16}" text-anchor="end"{weight}>{name}</text>'
            f'<rect x="{LEFT}" y="{y}" width="{waits:.1f}" height="{BAR}" fill="{COLOURS["loading"]}"/>'
            f'<rect x="{LEFT + waits:.1f}" y="{y}" width="{whole - waits:.1f}" height="{BAR}" fill="{COLOURS["rest"]}"/>'
            f'<text x="{LEFT + whole + 8:.1f}" y="{y + 16}"{weight}>{duration(step)}{mark}</text>'
        )
    y = TOP + ROW * len(points) + 18
    legend = (
        f'<rect x="{LEFT}" y="{y - 11}" width="12" height="12" fill="{COLOURS["loading"]}"/><text x="{LEFT + 18}" y="{y}">waits for its batch</text>'
        f'<rect x="{LEFT + 160}" y="{y - 11}" width="12" height="12" fill="{COLOURS["rest"]}"/><text x="{LEFT + 178}" y="{y}">the rest of the step</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" width="760" height="{height}" font-family="system-ui, sans-serif" '
        f'font-size="14" role="img" aria-label="{escape(headline)}"><rect width="760" height="{height}" fill="#ffffff"/>'
        f'<text x="12" y="22" font-size="16" font-weight="bold">Step time over workers</text>'
        f'<text x="12" y="42" fill="#555555">{escape(title)}</text>{"".join(drawn)}{legend}</svg>\n'
    )
