"""What tests of the whole program use: the samples, and the `stepscope` that was built with the package."""

import os
import pathlib
import subprocess
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "examples" / "samples"
PROGRAM = os.environ.get("STEPSCOPE_PROGRAM") or os.path.join(sysconfig.get_path("scripts"), "stepscope")


def said(*words):
    """Runs the command line with 100 columns; returns (exit code, stdout, stderr)."""
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    environment.update(COLUMNS="100", TERM="xterm")
    done = subprocess.run([PROGRAM, *map(str, words)], cwd=ROOT, env=environment, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()
