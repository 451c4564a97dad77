"""The list of analyses, and how Python values become their params."""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Iterable, Mapping, Sequence, Set
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


_RANGES = frozenset(("step", "instance"))
_MAX_WHOLE = 2**63


def _index(value: object) -> int | None:
    """The integer that the value is, also one of numpy's."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def shown(value: object) -> str:
    return repr(value) if value is None or isinstance(value, (str, bytes, int, float)) else f"an object of type {type(value).__name__}"


def whole(name: str, value: object) -> int:
    number = _index(value)
    if number is None or abs(number) >= _MAX_WHOLE:
        raise TypeError(f"{name} must be a whole number, not {shown(value)}")
    return number


def words(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, not {shown(value)}")
    return value


def switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def _range(name: str, value: object) -> str:
    """Consecutive numbers as "3-5"."""
    needed = f"{name} needs a number, or consecutive ones as range(3, 6), [3, 4, 5] or '3-5'"
    if isinstance(value, (bytes, Mapping, Set)) or not isinstance(value, Iterable):
        raise TypeError(f"{needed}, not {shown(value)}")
    numbers = [_index(one) for one in value]
    if not numbers or numbers[0] is None or numbers != [numbers[0] + i for i in range(len(numbers))]:
        raise UsageError(f"{needed}, not {value!r}")
    return f"{numbers[0]}-{numbers[-1]}"


def _text(name: str, value: object) -> str:
    """One value, spelled as on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        return str(value)
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value) and name not in _RANGES:
        return ";".join(value)
    number = _index(value)
    if number is not None:
        return str(number)
    if name in _RANGES:
        return _range(name, value)
    raise TypeError(f"{keyword(name)} must be a text or a number, not {shown(value)}")


def given(params: Mapping[str, object], flags: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
    """The params as (option, text), named as on the command line. None and flags that are False are left out."""
    asked = []
    for name, value in params.items():
        option = name.replace("_", "-")
        if value is None or (name in flags and value is False):
            continue
        if name in flags:
            switch(name, value)
        asked.append((option, _text(option, value)))
    return asked


def flags_of(name: str) -> frozenset[str]:
    return frozenset(p.name for a in _all() if a.name == name for p in a.params if p.type == "flag")


def path_bytes(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> bytes:
    """The path, with a leading ~ replaced by the home folder."""
    if hasattr(path, "read"):
        named = getattr(path, "name", None)
        advice = f"give its name, {named!r}" if isinstance(named, (str, bytes)) else "write it to a file and give the file's name"
        raise TypeError(f"a path is needed, not a file object: {advice}")
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"a path is needed, not {'None' if path is None else 'an object of type ' + type(path).__name__}")
    name = os.path.expanduser(os.fsencode(path))
    if b"\0" in name:
        raise UsageError("a path cannot contain a null byte")
    return name


def output_bytes(path: str | bytes | os.PathLike[str] | os.PathLike[bytes], inputs: Sequence[bytes]) -> bytes:
    """The path of a file to write. Raises UsageError if it is one of the files that were read, by whatever name."""
    name = path_bytes(path)
    _core.refuse_overwriting(list(inputs), name)
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


def several_words(name: str, values: Any) -> list[str]:
    return [words(name, one) for one in several(values)]
