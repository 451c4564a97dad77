"""The observer of the installed PyTorch: one C++ file, compiled against that PyTorch's headers.

The layout of the objects that RecordFunction passes to its callbacks is not stable, so there is one build per PyTorch version. A wheel
carries some; others are compiled into the user's cache.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stepscope._errors import Error
from stepscope.profiler._observer import compiling, shipped
from stepscope.profiler._places import scratch

PACKAGE = Path(__file__).resolve().parent.parent.parent
SOURCES = PACKAGE / "observer"
SHIPPED = PACKAGE / "observers"

GIVES_WAY = 10
"""The niceness of a compile that nobody waits for."""
AGAIN = 86400.0
"""Seconds after a failed compile before it is tried again in the background."""
BEFOREHAND = "`python -m stepscope.profiler.prepare` compiles it and says what it needs"

Build = Callable[[Path, list[str], str], Path]
"""Is given the output, the command and PyTorch's version."""


def observer(torch: Any) -> Path:
    """The observer's shared object. If there is none, compiles it in about ten seconds, or waits until it is compiled. Error if it cannot be."""
    return ready(torch) or in_a_cache(torch, build)


def ready(torch: Any) -> Path | None:
    """The observer, if nothing has to be compiled."""
    places = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")
    found = known(torch, *places)
    if found is None or not found.exists():  # it may have come since, or the cache was emptied
        known.cache_clear()
        found = known(torch, *places)
    return found


def begin_to_compile(torch: Any, *, soon: bool = False) -> None:
    """Starts to compile the observer in the background, if no process does. Error if it cannot be, or could not be lately.

    ``soon``: a recording will wait for it; otherwise it gives way to the program.
    """
    in_a_cache(torch, functools.partial(build_in_background, niceness=0 if soon else GIVES_WAY))


@functools.cache
def known(torch: Any, *places: str | None) -> Path | None:
    home = Path(torch.__file__).resolve().parent
    found = shipped.fitting(SHIPPED, home, torch.__version__, abi_of(torch))
    if found is not None:
        return found
    name = name_of(torch)
    for folder in (of_user, of_machine):
        try:
            if (found := folder() / name).exists():
                return found
        except OSError:
            continue
    return None


def in_a_cache(torch: Any, act: Build) -> Path:
    """Has the observer built in the user's cache, or in the temporary folder if that cannot be written."""
    command = [*compiler(), *arguments(torch)]
    reasons = []
    for folder in (of_user, of_machine):
        try:
            return act(folder() / name_of(torch), command, torch.__version__)
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


def abi_of(torch: Any) -> int:
    return int(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True))


def arguments(torch: Any) -> list[str]:
    """The compiler's arguments, without the output."""
    home = Path(torch.__file__).resolve().parent
    headers = home / "include"
    if not (headers / "ATen" / "record_function.h").exists():
        raise Error(f"the headers of PyTorch {torch.__version__} are not in {headers}; on Debian, install libtorch-dev")
    return [
        *shipped.flags(abi_of(torch)),
        f"-I{SOURCES}", f"-isystem{headers}",
        *[str(file) for file in sorted((SOURCES / "collect" / "torch").glob("*.cpp"))],
        f"-L{home / 'lib'}", "-ltorch_cpu", "-lc10", f"-L{PACKAGE}", "-lstepscope_collect",
    ]  # fmt: skip


def name_of(torch: Any) -> str:
    """The name in the caches: the same inputs, the same name."""
    inputs = [torch.__version__, str(torch.version.git_version), sysconfig.get_platform(), *arguments(torch)]
    digest = hashlib.sha256("\0".join(inputs).encode())
    for file in sorted(SOURCES.rglob("*")):
        if file.is_file():
            digest.update(file.read_bytes())
    return f"torch-{torch.__version__}-{digest.hexdigest()[:16]}.so"


def build(output: Path, command: list[str], version: str) -> Path:
    began = time.time()
    with open(output.with_suffix(".lock"), "w") as lock:
        failure = ""
        if not has(lock.fileno()):
            say(f"waiting for the observer for PyTorch {version}, which is being compiled; this happens once and takes about ten seconds")
            fcntl.flock(lock, fcntl.LOCK_EX)
            failure = failed(output, command, version, began)
        if not output.exists() and not failure:
            say(f"compiling the observer for PyTorch {version}; this happens once and takes about ten seconds")
            compiling.compile_to(output, command)
            failure = failed(output, command, version, 0)
    if failure:
        raise Error(failure)
    return output


def build_in_background(output: Path, command: list[str], version: str, niceness: int) -> Path:
    with open(output.with_suffix(".lock"), "w") as lock:
        if output.exists() or not has(lock.fileno()):
            return output
        if failure := failed(output, command, version, time.time() - AGAIN):
            raise Error(failure)
        words = [sys.executable, "-I", "-S", compiling.__file__, str(niceness), str(output), *command]
        quiet = subprocess.DEVNULL
        try:
            subprocess.run(words, pass_fds=[lock.fileno()], start_new_session=True, stdin=quiet, stdout=quiet, stderr=quiet, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Error(f"the observer for PyTorch {version} is not compiled yet, and the background process failed: {error}; {BEFOREHAND}") from None
    return output


def has(lock: int) -> bool:
    """Whether this process holds the lock now. One process of a job compiles while the others wait or go on."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def failed(output: Path, command: list[str], version: str, since: float) -> str:
    """Why this command failed since then; "" if it did not."""
    log = output.with_suffix(".log")
    if not log.exists() or log.stat().st_mtime < since:
        return ""
    tried, *lines = log.read_text(errors="replace").splitlines()
    if tried != " ".join(command):
        return ""
    first = next((line for line in lines if "error" in line), "no error was printed")
    return f"the observer for PyTorch {version} does not compile: {first}; the full output is in {log}; {BEFOREHAND}"


def say(what: str) -> None:
    print(f"stepscope: {what}", file=sys.stderr, flush=True)
