"""`stepscope tune` as a whole: a program with two loaders, of which the training steps iterate one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs that are measured need PyTorch")

TRAIN = """
import time
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 40
    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.full((8,), float(index))

def loader(data, **given):
    return DataLoader(data, batch_size=4, **given)

torch.set_num_threads(1)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
validation = loader(Slow())
training = loader(Slow(), shuffle=True)
for epoch in range(1000):
    for batch in training:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    for batch in validation:
        break
"""


def tuned(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(program)
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "OMP_WAIT_POLICY": "passive"}
    command = [sys.executable, "-m", "stepscope.tune", *words, "--", sys.executable, "train.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280, check=False)


def test_the_loader_of_the_training_steps_gets_workers(tmp_path):
    done = tuned(tmp_path, TRAIN, "--workers", "0,2", "--seconds", "10", "--total", "1", "--format", "json", "--output", "found.svg")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["current"]["num_workers"] == 0 and found["recommended"]["num_workers"] == 2, found
    assert found["write"].startswith("DataLoader(..., num_workers=2") and found["write"].endswith("# train.py:14")
    low, high = found["gain"]
    assert 0.05 < low < high <= 1
    assert found["loader"] == "DataLoader of Slow, batches of 4, 10 batches per pass"
    now = found["rows"][0]
    assert now["loading_ns"] > 10e6 and now["memory_bytes"] > 2**20
    assert (tmp_path / "found.svg").read_text().startswith("<svg")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["found.svg", "train.py"]


def test_a_loader_that_only_the_loop_holds(tmp_path):
    program = TRAIN.replace("for batch in training:", "for batch in loader(Slow(), shuffle=True):")
    (tmp_path / "model.py").write_text("def step(model, optimizer, batch):\n    model(batch).square().mean().backward()\n    optimizer.step()\n")
    program = program.replace("        model(batch).square().mean().backward()\n        optimizer.step()\n", "        step(model, optimizer, batch)\n")
    done = tuned(tmp_path, "from model import step\n" + program, "--workers", "0,2", "--seconds", "3", "--total", "1", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["loader"] == "DataLoader of Slow, batches of 4, 10 batches per pass"


def test_a_program_without_a_loader(tmp_path):
    done = tuned(tmp_path, "import torch\np = torch.nn.Parameter(torch.ones(1))\no = torch.optim.SGD([p])\nfor _ in range(99): o.step()\n")
    assert done.returncode == 1 and "nothing was measured: it makes no DataLoader" in done.stderr


def test_a_program_that_fails(tmp_path):
    done = tuned(tmp_path, "import torch\nraise RuntimeError('planned')\n")
    assert done.returncode == 1 and "RuntimeError: planned" in done.stderr


def test_a_program_that_cannot_start(tmp_path):
    command = [sys.executable, "-m", "stepscope.tune", "--", str(tmp_path / "absent")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "nothing was measured" in done.stderr
