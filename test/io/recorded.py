"""Runs programs with the I/O collector and reads what it recorded."""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
csv.field_size_limit(1 << 30)


class Collector:
    """`program`: stepscope; the library is beside it."""

    def __init__(self, program):
        self.program = Path(program).resolve()
        self.library = self.program.parent / "libstepscope_io.so"

    def environment(self, folder, **more):
        env = {**os.environ, **{key: str(value) for key, value in more.items()}}
        before = env.get("LD_PRELOAD", "")
        return {**env, "LD_PRELOAD": f"{self.library}:{before}".rstrip(":"), "STEPSCOPE_IO": str(folder)}

    def events(self, folder, categories=("posix_call",)):
        """All calls, as dicts with `name`, `begin`, `thread` and their args, in the order of time."""
        if not any(Path(folder).glob("io-*.stepscope")):
            return []
        with tempfile.TemporaryDirectory() as made:
            out = Path(made) / "events.csv"
            done = subprocess.run([self.program, "export", str(folder), "-o", str(out)], capture_output=True, text=True)
            if done.returncode != 0:
                raise AssertionError(f"export: {done.stderr}")
            with open(out, newline="") as file:
                rows = [row for row in csv.DictReader(file) if row["category"] in categories]
        events = [{"name": row["name"], "begin": int(row["start_ns"]), "end": int(row["end_ns"]),
                   "thread": row["track"], **json.loads(row["args"])} for row in rows]
        return sorted(events, key=lambda event: (event["begin"], event["end"]))


def compiled(folder, name, sources, *flags, compiler="cc"):
    """Builds a C program; None if there is no compiler."""
    if shutil.which(compiler) is None:
        return None
    out = Path(folder) / name
    subprocess.run([compiler, "-g", "-O1", "-o", out, *[str(source) for source in sources], *flags], check=True)
    return out


def has_header(name):
    return shutil.which("cc") is not None and subprocess.run(
        ["cc", "-E", "-x", "c", "-"], input=f"#include <{name}>\n", capture_output=True, text=True).returncode == 0


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)
