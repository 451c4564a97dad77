"""Args of ranges, as the members of a JSON object without its braces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LONGEST = 1000
"""Characters of a text; the rest is cut off."""
KNOWN = ("epoch", "step", "image_idx", "image_size")
"""Arguments that DFTracer's functions take by name."""


def value_text(value: Any) -> str:
    """A number, a truth value, None or a text; anything else becomes its text. Scalars of NumPy and PyTorch count as numbers."""
    if value is True or value is False or value is None:
        return "null" if value is None else "true" if value else "false"
    kind = type(value)
    if kind is int:
        return str(value)
    if kind is not str:
        try:
            number = value.item() if hasattr(value, "item") else value
            if isinstance(number, (int, float)):
                return json.dumps(number, allow_nan=False)
        except (TypeError, ValueError, RuntimeError):
            pass  # NaN, an array, or a tensor with more than one element
        value = str(value)
    return json.dumps(value if len(value) <= LONGEST else value[: LONGEST - 1] + "…")


def members(values: Mapping[str, Any]) -> str:
    """``"cat":"data","step":3`` of ``{"cat": "data", "step": 3}``."""
    return ",".join([f"{json.dumps(str(name))}:{value_text(value)}" for name, value in values.items()])


def known(epoch: Any, step: Any, image_idx: Any, image_size: Any) -> dict[str, Any]:
    """Those that are given."""
    values = (epoch, step, image_idx, image_size)
    return {name: value for name, value in zip(KNOWN, values) if value is not None}
