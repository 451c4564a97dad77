"""A self-contained page that shows memory over time, an area per use."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from stepscope.profiler._units import memory_text

NAMES = ("Parameter", "Optimizer state", "Input", "Temporary", "Activation", "Gradient", "Autograd detail", "Unknown")
COLOURS = ("#1b7837", "#daa520", "#222222", "#9370db", "#d7301f", "#3043b8", "#4f7fe0", "#8c8c8c")
WIDTH, HEIGHT, POINTS = 1200, 420, 1200


def thinned(times: Sequence[int], sizes: Sequence[Sequence[int]]) -> list[int]:
    """The index of the largest sum in each time bin, so that the peak stays."""
    length = max(times[-1] - times[0], 1)
    largest: dict[int, int] = {}
    for place, time in enumerate(times):
        piece = (time - times[0]) * POINTS // length
        if piece not in largest or sum(sizes[place]) >= sum(sizes[largest[piece]]):
            largest[piece] = place
    return sorted(largest.values())


def area(xs: Sequence[float], below: Sequence[float], above: Sequence[float], colour: str) -> str:
    """The area between two step lines."""

    def steps(ys: Sequence[float]) -> list[str]:
        out = []
        for i, (x, y) in enumerate(zip(xs, ys)):
            out.append(f"{x:.1f},{y:.1f}")
            out.append(f"{xs[i + 1] if i + 1 < len(xs) else WIDTH:.1f},{y:.1f}")
        return out

    return f'<polygon fill="{colour}" points="{" ".join(steps(above) + steps(below)[::-1])}"/>'


def memory_page(times: Sequence[int], sizes: Sequence[Sequence[int]], device: str) -> str:
    rows = [[max(size, 0) for size in row[1:]] for row in sizes]
    places = thinned(times, rows)
    start, length = times[0], max(times[-1] - times[0], 1)
    peak = max(sum(row) for row in rows)
    at_peak = max(rows, key=sum)
    xs = [(times[place] - start) * WIDTH / length for place in places]
    below = [float(HEIGHT)] * len(places)
    drawn = []
    for use, colour in enumerate(COLOURS):
        above = [y - rows[place][use] * HEIGHT / max(peak, 1) for y, place in zip(below, places)]
        if any(rows[place][use] for place in places):
            drawn.append(area(xs, below, above, colour))
        below = above
    legend = "".join(
        f'<tr><td><span style="background:{colour}"></span>{name}</td><td>{memory_text(at_peak[use])}</td>'
        f"<td>{memory_text(max(row[use] for row in rows))}</td></tr>"
        for use, (name, colour) in enumerate(zip(NAMES, COLOURS))
        if any(row[use] for row in rows)
    )
    title = f"Memory of {escape(device)}: {memory_text(peak)} at the peak"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px system-ui, sans-serif; margin: 24px; max-width: {WIDTH}px }}
svg {{ width: 100%; border-bottom: 1px solid #888; border-left: 1px solid #888 }}
td, th {{ padding: 2px 18px 2px 0; text-align: right }} td:first-child, th:first-child {{ text-align: left }}
td span {{ display: inline-block; width: 12px; height: 12px; margin-right: 8px }} p {{ color: #555 }}
</style></head><body><h1>{title}</h1>
<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{title}">{"".join(drawn)}</svg>
<p>Time axis: {length / 1000:.3f} ms. Memory axis: 0 to {memory_text(peak)}.</p>
<table><tr><th>Use</th><th>At the peak</th><th>Maximum</th></tr>{legend}</table>
</body></html>
"""
