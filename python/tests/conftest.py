"""Shared by the tests: the samples, and the program that was built with the package."""

import os
import pathlib
import subprocess
import sysconfig

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "examples" / "samples"
PROGRAM = os.environ.get("STEPSCOPE_PROGRAM") or os.path.join(sysconfig.get_path("scripts"), "stepscope")


def said(*words):
    """Runs the command line with 100 columns; returns (exit code, stdout, stderr)."""
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    environment.update(COLUMNS="100", TERM="xterm")
    done = subprocess.run([PROGRAM, *map(str, words)], cwd=ROOT, env=environment, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def one_rank():
    import stepscope

    return stepscope.open(SAMPLES / "generated_slow_input.json.gz")


@pytest.fixture(scope="session")
def two_ranks():
    import stepscope

    return stepscope.open(SAMPLES / "generated_exposed_comm")
