"""Times, sizes and shares as torch.profiler's tables print them."""

from __future__ import annotations

US_PER = {"s": 1e6, "ms": 1e3, "us": 1.0}


def time_text(us: float, unit: str | None = None) -> str:
    """Three decimals in ``unit``; by default in the largest unit in which the time is at least 1."""
    if unit is None:
        unit = next((name for name in ("s", "ms") if us >= US_PER[name]), "us")
    return f"{us / US_PER[unit]:.3f}{unit}"


def memory_text(size: int) -> str:
    """A size in B, KB, MB or GB, in powers of 1024."""
    for factor, unit in ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB")):
        if abs(size) >= factor:
            return f"{size / factor:.2f} {unit}"
    return f"{size} B"


def share_text(part: float, whole: float) -> str:
    return f"{part * 100 / whole:.2f}%" if whole else "NaN"
