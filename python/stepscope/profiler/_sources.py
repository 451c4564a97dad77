"""The program's own lines in samples, with their text."""

from __future__ import annotations

import contextlib
import functools
import json
import linecache
import os
import site
import sys
import sysconfig

from stepscope import _collect
from stepscope._errors import ProfilerError
from stepscope.profiler._recording import Recording

MOST = 1000
"""Lines that are listed."""
LONGEST = 160
"""Characters of a line."""


def name_lines(recording: Recording) -> None:
    """Ends the samples, and lists the program's lines in the recording if it has room."""
    _collect.python_stop()
    if lines := source_lines():
        with contextlib.suppress(ProfilerError):
            recording.metadata("sourceLines", json.dumps(lines))


def source_lines() -> dict[str, str]:
    """Text by "file(line)" of each line of the program itself that samples named since the last call."""
    found: dict[str, str] = {}
    for path, file, line in _collect.sampled_lines():
        if len(found) < MOST and is_own(path):
            found[f"{file}({line})"] = linecache.getline(path, line).strip()[:LONGEST]
    return found


@functools.lru_cache(maxsize=None)
def is_own(path: str) -> bool:
    """Whether a file belongs to the program: neither to Python, nor to an installed package, nor made by code."""
    return not path.startswith("<") and not os.path.abspath(path).startswith(foreign())


@functools.lru_cache(maxsize=None)
def foreign() -> tuple[str, ...]:
    """Folders of Python's library and of installed packages."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths.update(site.getsitepackages(), [site.getusersitepackages()])
    paths.update(path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages"))
    paths.add(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return tuple(os.path.join(os.path.abspath(path), "") for path in paths if path)
