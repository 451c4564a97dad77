"""The command-line program that is installed with the package."""

from __future__ import annotations

import importlib.metadata
import os
import shutil


def program() -> str | None:
    """Its path; None if it is gone."""
    try:
        files = importlib.metadata.files("stepscope") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = os.path.realpath(str(file.locate()))
        if file.name == "stepscope" and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return shutil.which("stepscope")
