"""Observers of PyTorch versions that are not installed, for the wheel.

    tools/observers.py build FOLDER [VERSION…]    compiles those of tools/observer-torches.txt, or some of them, into FOLDER
    tools/observers.py update                     writes that list anew: the last patch of each minor version that pip finds

A version whose headers cannot be downloaded is left out, with a message. Needs a recent pip and a C++20 compiler.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import torch_headers

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "observer-torches.txt"
SOURCES = sorted((ROOT / "src" / "collect" / "torch").glob("*.cpp"))
OLDEST = (2, 4)
NEW_ABI_ONLY = (2, 7)
"""The first version whose wheels all have the new C++ ABI; before it, there are builds with either."""
NEEDED = "torch/csrc/distributed/c10d/ParamCommsUtils.hpp"
"""A header that our sources include if it is there; an observer without it would know no collectives."""


def package_part(name: str) -> ModuleType:
    """A module of the package that needs nothing else of it."""
    found = importlib.util.spec_from_file_location(name, ROOT / "python" / "stepscope" / "profiler" / "_observer" / f"{name}.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


shipped = package_part("shipped")


def listed() -> dict[str, list[int]]:
    """The C++ ABIs to build for, of each version."""
    lines = (line.split() for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
    return {version: [int(abi) for abi in abis] for version, *abis in lines}


def run(*words: object) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"observers: {' '.join(map(str, words))}\n{done.stderr}")


def build(folder: Path, versions: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("torch-*"):
        file.unlink()
    of_version = listed()
    if unknown := [version for version in versions if version not in of_version]:
        sys.exit(f"observers: PyTorch {unknown[0]} is not in {LIST}; add it, or run: tools/observers.py update")
    with ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        list(pool.map(lambda version: build_version(folder, version, of_version[version]), versions or of_version))


def build_version(folder: Path, version: str, abis: list[int]) -> None:
    try:
        kept = torch_headers.headers(version)
    except (OSError, subprocess.CalledProcessError) as error:
        why = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        print(f"observers: the wheel gets none for PyTorch {version}: its headers cannot be downloaded: {why}", file=sys.stderr)
        return
    for abi in abis:
        with tempfile.TemporaryDirectory() as scratch:
            with zipfile.ZipFile(kept) as headers:
                headers.extractall(scratch)
            compile_one(folder / f"torch-{version}-abi{abi}.so", Path(scratch), Path(scratch) / "torch" / "include", abi)


def compile_one(output: Path, scratch: Path, include: Path, abi: int) -> None:
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    used: set[str] = set()
    for source in SOURCES:
        needs = scratch / f"{source.stem}.d"
        run(*compiler, *shipped.flags(abi), f"-I{ROOT / 'src'}", f"-isystem{include}", "-MD", "-MF", needs, "-c", source, "-o", scratch / f"{source.stem}.o")
        files = (Path(os.path.abspath(name)) for name in needs.read_text().replace("\\\n", " ").split()[1:])
        used |= {str(file.relative_to(include)) for file in files if file.is_relative_to(include)}
    if NEEDED not in used:
        sys.exit(f"observers: {include} has no {NEEDED}")
    run(*compiler, "-shared", "-s", *scratch.glob("*.o"), "-o", output, "-Wl,-rpath,$ORIGIN/..", "-Wl,--no-as-needed", *stand_ins(scratch, compiler))
    shipped.describe(output, include, used)
    print(f"observers: {output.name}: {output.stat().st_size >> 10} KiB, {len(used)} headers")


def stand_ins(scratch: Path, compiler: list[str]) -> list[Path]:
    """Empty libraries of the right names: what they define is found when the observer is loaded."""
    made = []
    for name in (*shipped.LIBRARIES, "libstepscope_collect.so"):
        made.append(scratch / name)
        run(*compiler, "-shared", "-nostdlib", f"-Wl,-soname,{name}", "-x", "c++", os.devnull, "-o", made[-1])
    return made


def update() -> None:
    said = subprocess.run([sys.executable, "-m", "pip", "index", "versions", "torch"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"Available versions: (.*)", said)
    assert found is not None, said
    last: dict[tuple[int, int], str] = {}
    for version in found[1].split(", "):  # the newest first
        major, minor = map(int, version.split(".")[:2])
        if (major, minor) >= OLDEST:
            last.setdefault((major, minor), version)
    head = [line for line in LIST.read_text().splitlines() if line.startswith("#")]
    lines = [f"{version} {'1' if minor >= NEW_ABI_ONLY else '0 1'}" for minor, version in sorted(last.items())]
    LIST.write_text("\n".join([*head, *lines]) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["build"] and len(sys.argv) > 2:
        build(Path(sys.argv[2]), sys.argv[3:])
    elif sys.argv[1:] == ["update"]:
        update()
    else:
        sys.exit(__doc__)
