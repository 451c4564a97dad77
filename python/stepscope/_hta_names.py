"""Names of kernels as HTA shortens them."""

from __future__ import annotations

from typing import List


def shorten_name(name: str) -> str:
    """A kernel's name without template arguments, parameters and return type; names of copies and fills are kept."""
    if name.startswith(("Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma")) or not ("<" in name or "(" in name):
        return name
    kept: List[str] = []
    for c in name.replace("->", ""):
        if c in ">)":
            opening = "<" if c == ">" else "("
            while kept and kept.pop() != opening:
                pass
        else:
            kept.append(c)
    return "".join(kept).split(" ")[-1]
