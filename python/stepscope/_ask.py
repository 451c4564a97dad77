"""The list of analyses, and how Python values become their params."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stepscope import _core
from stepscope._errors import UsageError


@dataclass(frozen=True)
class Param:
    """A keyword of an analysis."""

    name: str
    """As a keyword, e.g. ``tb_compat``."""
    type: str
    """flag, integer, percentage, text, texts (a text or a list of them), choice or steps."""
    default: str
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class Analysis:
    """A question that can be asked of a trace."""

    name: str
    one_line: str
    doc: str
    """Markdown. For each column: its unit, numerator and denominator, and what is left out."""
    params: tuple[Param, ...]


def keyword(option: str) -> str:
    return option.replace("-", "_")


def _param(of: Mapping[str, str]) -> Param:
    choices = tuple(of["choices"].split("|")) if of["choices"] else ()
    return Param(keyword(of["name"]), of["type"], of["default"], choices, of["help"])


@functools.lru_cache(maxsize=None)
def _all() -> tuple[Analysis, ...]:
    return tuple(
        Analysis(of["name"], of["one_line"], of["doc"], tuple(_param(p) for p in of["params"]))
        for of in _core.analyses()
    )


def analyses() -> list[Analysis]:
    """Every analysis, in the order of ``stepscope list``."""
    return list(_all())


def _text(name: str, value: object) -> str:
    """One value, spelled as on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, range):
        if value.step != 1 or len(value) == 0:
            raise UsageError(f"{keyword(name)} needs consecutive steps, not {value}")
        return f"{value.start}-{value.stop - 1}"
    if isinstance(value, (int, float, str)):
        return str(value)
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return ";".join(value)
    if hasattr(value, "__index__"):  # e.g. a numpy integer
        return str(value.__index__())
    raise TypeError(f"{keyword(name)} cannot be {type(value).__name__}")


def given(params: Mapping[str, object], flags: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
    """The params as (option, text), named as on the command line. None and flags that are False are left out."""
    asked = []
    for name, value in params.items():
        option = name.replace("_", "-")
        if value is None or (name in flags and value is False):
            continue
        if name in flags and value is not True:
            raise TypeError(f"{name} must be True or False, not {value!r}")
        asked.append((option, _text(option, value)))
    return asked


def flags_of(name: str) -> frozenset[str]:
    return frozenset(p.name for a in _all() if a.name == name for p in a.params if p.type == "flag")


def path_bytes(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> bytes:
    """The path, with a leading ~ replaced by the home folder."""
    if hasattr(path, "read"):
        raise TypeError(f"a path is needed, not a file object: give its name, {getattr(path, 'name', None)!r}")
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"a path is needed, not {'None' if path is None else 'an object of type ' + type(path).__name__}")
    name = os.path.expanduser(os.fsencode(path))
    if b"\0" in name:
        raise UsageError("a path cannot contain a null byte")
    return name


def paths_bytes(paths: Any) -> list[bytes]:
    """One path or several."""
    if isinstance(paths, Mapping):
        raise TypeError("a path or a list of paths is needed, not a dict: give its values; each file says which rank it is")
    if isinstance(paths, (str, bytes, os.PathLike)) or hasattr(paths, "read") or not isinstance(paths, Iterable):
        return [path_bytes(paths)]
    return [path_bytes(one) for one in paths]


def several(values: Any) -> list[Any]:
    """One value, several, or none."""
    if values is None:
        return []
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values]
    return list(values)
