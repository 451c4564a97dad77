"""`stepscope try` as a whole: a program that never ends, with changed copies that crash, hang and fork."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs that are tried need PyTorch")

TRAIN = """
import itertools, json, os, sys, time
import torch
torch.manual_seed(1)
torch.set_num_threads(1)
told = json.loads(os.environ.get("STEPSCOPE_TRIAL", "{}"))
changes = told.get("changes", [])
with open("steps.txt", "a") as file:
    file.write(str(changes) + "\\n")
model = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(40)])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in itertools.count():
    optimizer.zero_grad(set_to_none=False)
    model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    if step == 9 and changes == ["zero_grad"]:
        raise RuntimeError("planned")
    if step == 9 and changes == ["foreach_optimizer"]:
        time.sleep(1000)
    if step == 9 and changes == ["fused_optimizer"] and os.fork() == 0:
        os.setsid()
        with open(sys.argv[1], "w") as file:
            file.write(str(os.getpid()))
        time.sleep(1000)
"""
ONLY = "fused_optimizer,zero_grad,foreach_optimizer"


def tried(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "OMP_WAIT_POLICY": "passive"}
    command = [sys.executable, "-m", "stepscope.trial", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False)


def test_copies_that_fail_harm_nothing(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    limits = ("--seconds", "2", "--steps", "200", "--start-limit", "60", "--hang-limit", "3")
    forked = tmp_path.parent / "forked.txt"
    program = ("--", sys.executable, "train.py", str(forked))
    done = tried(tmp_path, "--all", "--only", ONLY, *limits, "--end", "--format", "json", *program)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    trials = {one["changes"][0]: one for one in document["trials"]}
    assert set(trials) == set(ONLY.split(","))
    assert "RuntimeError: planned" in trials["zero_grad"]["failed"]
    assert "too few steps in" in trials["foreach_optimizer"]["failed"]
    fused = trials["fused_optimizer"]
    if "failed" not in fused:  # a PyTorch without it for CPUs
        assert fused["blocks"] >= 6 and fused["low_ns"] <= fused["saved_ns"] <= fused["high_ns"]
        assert fused["loss"].startswith("same") and fused["memory_bytes"][0] > 2**20
        assert fused["write"] == ["torch.optim.Adam(..., fused=True)   # train.py:11"]
    assert not Path(f"/proc/{forked.read_text()}").exists()  # what a copy forks ends with it
    lines = (tmp_path / "steps.txt").read_text().splitlines()
    assert lines == ["[]"] or "copies wrote files" in " ".join(document["notes"])


def test_the_programs_exit_code_is_kept(tmp_path):
    done = tried(tmp_path, "--", sys.executable, "-c", "import sys; sys.exit(3)")
    assert done.returncode == 3 and "nothing was tried" in done.stderr


def test_a_program_that_cannot_start(tmp_path):
    done = tried(tmp_path, "--", str(tmp_path / "absent"))
    assert done.returncode == 127 and "No such file" in done.stderr
