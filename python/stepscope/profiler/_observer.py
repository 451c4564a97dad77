"""The observer of the installed PyTorch: one C++ file, compiled against that PyTorch's headers and cached.

The layout of the objects that RecordFunction passes to its callbacks is not stable, so there is one build per PyTorch version.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepscope._errors import Error
from stepscope.profiler._places import scratch

PACKAGE = Path(__file__).resolve().parent.parent
SOURCES = PACKAGE / "observer"


def observer(torch: Any) -> Path:
    """The observer's shared object; compiled on first use, in about ten seconds. Error if it cannot be."""
    places = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")
    if not made(torch, *places).exists():  # the cache was emptied
        made.cache_clear()
    return made(torch, *places)


@functools.cache
def made(torch: Any, *places: str | None) -> Path:
    command = arguments(torch)
    name = f"torch-{torch.__version__}-{fingerprint(torch, command)}.so"
    reasons = []
    for folder in (of_user, of_machine):
        try:
            output = folder() / name
            if output.exists():
                return output
            with locked(output.with_suffix(".lock")):
                if not output.exists():
                    compile_to(output, [*compiler(), *command], torch.__version__)
            return output
        except OSError as error:  # read-only, no home, no space
            reasons.append(f"{error.filename}: {error.strerror}")
    raise Error(f"the observer for PyTorch {torch.__version__} cannot be stored: {'; '.join(reasons)}; set XDG_CACHE_HOME to a folder that you own")


def of_user() -> Path:
    """The user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(base) / "stepscope" / "observers"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise Error(f"{folder} belongs to another user, so nothing is loaded from it; set XDG_CACHE_HOME to a folder that you own")
    return folder


def of_machine() -> Path:
    """The user's temporary folder, where the cache cannot be written."""
    folder = scratch() / "observers"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def compiler() -> list[str]:
    found = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not found:
        raise Error("recording needs a C++20 compiler once per PyTorch version, and none was found; install g++, or set CXX to a compiler")
    return found.split()


def arguments(torch: Any) -> list[str]:
    """The compiler's arguments, without the output."""
    home = Path(torch.__file__).resolve().parent
    headers = home / "include"
    if not (headers / "ATen" / "record_function.h").exists():
        raise Error(f"the headers of PyTorch {torch.__version__} are not in {headers}; on Debian, install libtorch-dev")
    abi = int(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True))
    return [
        "-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden", "-w",
        f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
        f"-I{SOURCES}", f"-isystem{headers}",
        *[str(file) for file in sorted((SOURCES / "collect" / "torch").glob("*.cpp"))],
        f"-L{home / 'lib'}", "-ltorch_cpu", "-lc10", f"-L{PACKAGE}", "-lstepscope_collect",
    ]  # fmt: skip


def fingerprint(torch: Any, command: list[str]) -> str:
    digest = hashlib.sha256("\0".join([torch.__version__, str(torch.version.git_version), sysconfig.get_platform(), *command]).encode())
    for file in sorted(SOURCES.rglob("*")):
        if file.is_file():
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lets one process of a job compile while the others wait."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compile_to(output: Path, command: list[str], version: str) -> None:
    print(f"stepscope: compiling the observer for PyTorch {version}; this happens once and takes about ten seconds", file=sys.stderr, flush=True)
    part = output.with_suffix(f".{os.getpid()}.part")
    done = subprocess.run([*command, "-o", str(part)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        part.unlink(missing_ok=True)
        log = output.with_suffix(".log")
        log.write_text(" ".join(command) + "\n" + done.stderr)
        first = next((line for line in done.stderr.splitlines() if "error" in line), "no error was printed")
        raise Error(f"the observer for PyTorch {version} does not compile: {first}; the full output is in {log}")
    part.rename(output)
