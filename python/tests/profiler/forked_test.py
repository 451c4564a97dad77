"""`stepscope record` with programs that fork."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from collecting import exported

import stepscope

pytest.importorskip("torch", reason="the programs that are recorded need PyTorch")
PROGRAM = shutil.which("stepscope")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="the program stepscope is not on PATH")

FORKS = """
import multiprocessing, os, subprocess, sys, torch
torch.set_num_threads(1)
def work(number):
    with torch.profiler.record_function(f"work {number}"):
        return float(torch.ones(50, 50).sum())
def train(rank):
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        model(torch.ones(4, 8)).sum().backward()
        optimizer.step()
def pool():
    with context.Pool(2) as workers:
        print(workers.map(work, range(8), chunksize=1))
        workers.close()
        workers.join()
def trainers():
    children = [context.Process(target=train, args=(rank,)) for rank in range(2)]
    for child in children: child.start()
    for child in children: child.join()
def os_fork():
    child = os.fork()
    if child == 0:
        train(0)
        os._exit(0)
    os.waitpid(child, 0)
def other_program():
    work(0)
    subprocess.run(["true"], preexec_fn=os.getpid)
    os.spawnlp(os.P_WAIT, "true", "true")
def many():
    for _ in range(70):
        child = context.Process(target=work, args=(0,))
        child.start()
        child.join()
def loader():
    data = torch.utils.data.DataLoader(torch.ones(8, 8), num_workers=1, multiprocessing_context=context)
    for batch in data: train(0)
context = multiprocessing.get_context("fork")
globals()[sys.argv[1]]()
"""


@pytest.fixture
def recorded(tmp_path):
    program = tmp_path / "forks.py"
    program.write_text(FORKS)

    def record(case: str, *options: str) -> tuple[list[Path], str]:
        words = [str(PROGRAM), "record", *options, "-o", str(tmp_path / "out"), "--", sys.executable, str(program), case]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "PYTHONWARNINGS": "ignore"})
        assert done.returncode == 0 and "Error" not in done.stderr and "Traceback" not in done.stderr, done.stderr
        return sorted((tmp_path / "out").glob("*.stepscope")), " ".join(done.stdout.split())

    return record


def test_the_processes_of_a_pool(recorded):
    files, _ = recorded("pool")
    assert len(files) == 3
    seen = [event["name"] for path in files for event in exported(path) if event["name"].startswith("work ")]
    assert sorted(seen) == [f"work {number}" for number in range(8)]


def test_children_that_train_are_the_ranks(recorded, tmp_path):
    files, said = recorded("trainers")
    assert len(files) == 3
    with pytest.warns(UserWarning, match="some have no rank number"):  # they train without torch.distributed
        trace = stepscope.open(tmp_path / "out")
    assert [rank.steps for rank in trace.ranks] == [[1, 2, 3, 4]] * 2
    assert "2 ranks" in said and "which does not train, and is left out" in said


def test_some_steps_of_a_child(recorded, tmp_path):
    files, _ = recorded("os_fork", "--steps", "2:4")
    (trace,) = stepscope.open(tmp_path / "out").ranks
    assert len(files) == 1 and trace.steps == [2, 3]


@pytest.mark.parametrize(("case", "files"), [("other_program", 1), ("loader", 2), ("many", 65)])
def test_what_is_no_child_of_the_program_or_one_of_very_many(recorded, case, files):
    assert len(recorded(case)[0]) == files
