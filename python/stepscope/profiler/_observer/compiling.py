"""Compiles an observer. Also a program for that, which goes on when the program that started it ends: ``compiling.py NICENESS OUTPUT COMMAND…``.

It inherits the open file of the lock, so that is held until it has ended. It imports nothing of stepscope.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def compile_to(output: Path, command: list[str]) -> None:
    """Writes ``output`` whole, or a log beside it that says why not. The first line of the log is the command."""
    part, log = output.with_suffix(f".{os.getpid()}.part"), output.with_suffix(".log")
    try:
        done = subprocess.run([*command, "-o", str(part)], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
        failed, said = done.returncode != 0, done.stderr
    except OSError as error:
        failed, said = True, f"error: {command[0]} cannot be run: {error.strerror}\n"
    if failed:
        part.unlink(missing_ok=True)
        log.write_text(f"{' '.join(command)}\n{said}")
    else:
        part.rename(output)
        log.unlink(missing_ok=True)


if __name__ == "__main__":
    if os.fork() == 0:
        os.nice(int(sys.argv[1]))
        compile_to(Path(sys.argv[2]), sys.argv[3:])
