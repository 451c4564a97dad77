"""Helpers for the tests of `stepscope record`, `run` and `attach`: a program that trains, and what was recorded of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import stepscope

pytest.importorskip("torch", reason="the programs that are recorded need PyTorch")
PROGRAM = shutil.which("stepscope")
needs_program = pytest.mark.skipif(PROGRAM is None, reason="the program stepscope is not on PATH")

TRAIN = """
import sys, time, torch
torch.set_num_threads(1)
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
other = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1)
for step in range(int(sys.argv[1])):
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
    other.step()
    time.sleep(float(sys.argv[2]))
print("trained")
sys.exit(int(sys.argv[3]))
"""


def written(folder):
    """The program that trains."""
    path = folder / "train.py"
    path.write_text(TRAIN)
    return path


def stepscope_does(*words, **options):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", **options.pop("env", {})}
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120, env=environment, check=False, **options)


def steps_in(folder):
    (path,) = Path(folder).glob("*.stepscope")
    return stepscope.open(path).ranks[0].steps


def has_a_step(folder):
    try:
        return bool(steps_in(folder))
    except (ValueError, stepscope.Error):  # no file yet, or nothing in it
        return False


def wait_for(what):
    until = time.monotonic() + 60
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)
