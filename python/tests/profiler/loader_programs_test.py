"""Data loaders' workers in other parts of stepscope."""

import json
import os
import subprocess
import sys
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

from loading import Slow, events_of, export, linked, named  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

import stepscope  # noqa: E402
from stepscope.profiler import profile, schedule  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_folder_counts_processes_not_workers(tmp_path):
    with profile(path=tmp_path / "run.stepscope"):
        list(DataLoader(Slow(4), num_workers=2))
    (tmp_path / "run.worker9_9.stepscope").write_bytes(b"STEPREC\n" + bytes(5000))
    (tmp_path / "run.worker8.stepscope").write_text("no recording")
    trace = stepscope.open(tmp_path / "run.stepscope")
    assert len(trace.ranks) == 1
    (tmp_path / "run.worker8.stepscope").unlink()
    (tmp_path / "run.worker9_9.stepscope").unlink()
    assert len(stepscope.open(tmp_path).ranks) == 1


def test_workers_of_another_run_are_not_read(tmp_path):
    path = tmp_path / "run.stepscope"
    with profile(path=path):
        list(DataLoader(Slow(4), num_workers=1))
    (old,) = tmp_path.glob("run.worker*")
    kept = old.read_bytes()
    with profile(path=path):
        torch.ones(1)
    assert not list(tmp_path.glob("run.worker*"))
    old.write_bytes(kept)
    assert not named(events_of(export(path, tmp_path)), "DataLoader.fetch")


TRAINING = """
import sys, torch
from torch.utils.data import DataLoader, TensorDataset
if __name__ == "__main__":
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.ones(16, 1))
    for (batch,) in DataLoader(data, num_workers=2, multiprocessing_context=sys.argv[1], prefetch_factor=1):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""
SITE = """
import sys
if "resource_tracker" not in str(sys.orig_argv):  # a helper of multiprocessing, which imports no PyTorch by itself
    import torch
    from stepscope.profiler._outside import begin
    begin(torch)
"""


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("options", [{}, {"steps": "2:12"}])
def test_workers_of_a_program_that_is_recorded_from_outside(tmp_path, start, options):
    """As with `stepscope record`. Spawned workers must not be recorded as separate processes."""
    (tmp_path / "train.py").write_text(TRAINING)
    (tmp_path / "sitecustomize.py").write_text(SITE)
    folder = tmp_path / "out"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "STEPSCOPE_RECORD": json.dumps({"folder": str(folder), **options})}
    subprocess.run([sys.executable, "-W", "ignore", str(tmp_path / "train.py"), start], env=environment, check=True, timeout=120)
    (parent,) = (path for path in folder.iterdir() if ".worker" not in path.name)
    assert len(list(folder.glob(f"{parent.stem}.worker[01]_*.stepscope"))) == len(list(folder.iterdir())) - 1 == 2
    assert len(linked(events_of(export(parent, tmp_path)))) >= 6
    assert len(stepscope.open(folder).ranks) == 1


@pytest.mark.parametrize(("workers", "finding"), [(0, "I01"), (1, "I02")])
def test_waits_and_findings(tmp_path, workers, finding):
    """Ten steps that almost only wait for their batch, which takes 60 ms."""
    path = tmp_path / "run.stepscope"
    with profile(path=path, schedule=schedule(wait=0, warmup=1, active=10, repeat=1)) as prof:
        for batch in DataLoader(Slow(13, 0.06), num_workers=workers):
            torch.relu(batch.float())
            prof.step()
    trace = stepscope.open(path)
    steps = trace.analyze("input_wait").tables[0]
    assert steps["step"].to_list() == [str(number) for number in range(1, 11)]
    assert set(steps["loader"].to_list()) == {"multi-process" if workers else "single-process"}
    totals = steps["total"].to_list()[1:]
    assert sum(totals) > 45e6 * len(totals)  # single waits vary if other programs run
    assert finding in trace.report().findings["id"].to_list()


def test_two_workers_take_turns(tmp_path):
    """A batch takes 60 ms and two are made at a time: a step waits 30 ms on average."""
    path = tmp_path / "run.stepscope"
    with profile(path=path, schedule=schedule(wait=0, warmup=1, active=12, repeat=1)) as prof:
        for batch in DataLoader(Slow(15, 0.06), num_workers=2):
            torch.relu(batch.float())
            prof.step()
    (loader,) = stepscope.open(path).analyze("input_wait").tables[1]
    assert (loader["kind"], loader["count"]) == ("multi-process", 12)
    assert 20e6 < loader["total"] / 12 < 80e6
