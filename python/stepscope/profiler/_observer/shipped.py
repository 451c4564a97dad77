"""Observers that a wheel carries, and which of them fits the installed PyTorch.

One fits if it was compiled from the very headers that this PyTorch has, for the same C++ ABI: a compile here would read the same bytes. So one
fits builds for CPUs and for any CUDA, and later patches that leave these headers alone. tools/observers.py loads this file without the package.
"""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

LIBRARIES = ("libtorch_cpu.so", "libc10.so")
"""What an observer needs of PyTorch, by the names in its own file."""


def flags(abi: int) -> list[str]:
    return ["-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden", "-w", f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]


def digest(include: Path, names: Iterable[str]) -> str:
    """Of the names and the contents of headers. OSError if one is missing."""
    whole = hashlib.sha256()
    for name in names:
        whole.update(f"{name}\0".encode() + hashlib.sha256((include / name).read_bytes()).digest())
    return whole.hexdigest()


def describe(output: Path, include: Path, names: Iterable[str]) -> None:
    """Writes beside a compiled observer which headers it was compiled from."""
    names = sorted(names)
    output.with_suffix(".json").write_text(json.dumps({"digest": digest(include, names), "headers": names}))


def fitting(folder: Path, home: Path, version: str, abi: int) -> Path | None:
    """The observer in ``folder`` that fits the PyTorch in ``home``; None if none does."""
    if not all((home / "lib" / library).exists() for library in LIBRARIES):
        return None
    minor = ".".join(version.split(".")[:2])
    for description in sorted(folder.glob(f"torch-{glob.escape(minor)}.*-abi{abi}.json")):
        told = json.loads(description.read_text())
        try:
            if digest(home / "include", told["headers"]) == told["digest"]:
                return description.with_suffix(".so")
        except OSError:  # a header that this PyTorch does not have
            continue
    return None
