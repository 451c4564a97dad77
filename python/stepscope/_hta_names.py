"""Names of kernels as HTA shortens them."""

from __future__ import annotations

from typing import Any, List, Optional


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


class SymbolTable:
    """HTA's table of ids and texts, where each text is its own id: what looks up an id or a text gets the text."""

    @property
    def sym_table(self) -> "SymbolTable":
        """Texts by id."""
        return self

    sym_index = sym_table
    """Ids by text."""

    def get_sym_table(self) -> "SymbolTable":
        return self

    get_sym_id_map = get_sym_table

    def __getitem__(self, text: str) -> str:
        return text

    def get(self, text: str, default: Optional[Any] = None) -> str:
        return text

    def add_symbols_to_trace_df(self, trace_df: Any, col: str) -> None:
        """Nothing is left to do: the frame's column has texts."""
