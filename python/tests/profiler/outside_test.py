"""`stepscope record`, with programs that do not use stepscope."""

from __future__ import annotations

import socket
import sys
import time

import pytest
from attaching import TRAIN, needs_program, stepscope_does, steps_in, written
from collecting import exported

import stepscope

pytestmark = needs_program


@pytest.fixture
def train(tmp_path):
    return written(tmp_path)


def test_some_steps_are_recorded_and_reported(tmp_path, train):
    out = tmp_path / "out"
    done = stepscope_does("record", "--steps", "3:6", "-o", out, "--", sys.executable, train, 10, 0, 0)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("trained\n") and "3 steps of" in done.stdout
    assert "Error" not in done.stderr and f"recorded in {out}" in done.stderr
    assert steps_in(out) == [3, 4, 5]


@pytest.mark.parametrize(("options", "shapes", "stacks"), [((), True, True), (("--stacks", "none", "--shapes", "none"), False, False)])
def test_shapes_and_samples_are_recorded_unless_they_are_declined(tmp_path, train, options, shapes, stacks):
    out = tmp_path / "out"
    done = stepscope_does("record", *options, "-o", out, "--", sys.executable, train, 10, 0.05, 0)
    assert done.returncode == 0, done.stderr
    (path,) = out.glob("*.stepscope")
    events = exported(path)
    assert any("Input Dims" in e.get("args", {}) for e in events) == shapes
    if (3, 11) <= sys.version_info < (3, 14):
        assert any("sampled" in e.get("args", {}) for e in events) == stacks


MANY = """
import sys, time, torch
x = torch.ones(4)
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    for _ in range(1000):
        torch.add(x, x)
"""


@pytest.mark.parametrize(("options", "all_have"), [((), False), (("--shapes", "all"), True)])
def test_shapes_of_many_short_ops_are_recorded_in_windows(tmp_path, options, all_have):
    program, out = tmp_path / "many.py", tmp_path / "out"
    program.write_text(MANY)
    done = stepscope_does("record", *options, "--stacks", "none", "-o", out, "--", sys.executable, program, 2.5)
    assert done.returncode == 0, done.stderr
    (path,) = out.glob("*.stepscope")
    ops = [event for event in exported(path) if event.get("cat") == "cpu_op" and event["name"] == "aten::add"]
    have = sum("Input Dims" in event.get("args", {}) for event in ops)
    assert 0 < have <= len(ops) and (have == len(ops)) == all_have
    said = stepscope_does("report", path).stdout
    assert ("would have cost" in " ".join(said.split())) != all_have


def test_a_profiler_of_the_programs_own_goes_on(tmp_path, train):
    own = "from stepscope.profiler import profile\nwith profile(path=sys.argv[4]) as prof:\n    model(torch.ones(1, 8))\n"
    train.write_text(TRAIN.replace("    time.sleep", "    if step == 2:\n        " + own.replace("\n", "\n        ") + "\n    time.sleep"))
    out, path = tmp_path / "out", tmp_path / "own.stepscope"
    done = stepscope_does("record", "-o", out, "--", sys.executable, train, 6, 0, 0, path)
    assert done.returncode == 0, done.stderr
    assert "the program started its own profiler" in done.stderr and "trained" in done.stdout
    assert stepscope.open(path).ranks[0].events > 0
    assert steps_in(out) == [1, 2]


def test_the_programs_exit_code_is_kept(tmp_path, train):
    out = tmp_path / "out"
    done = stepscope_does("record", "-o", out, "--", sys.executable, train, 2, 0, 7)
    assert done.returncode == 7
    assert "ended with exit code 7" in done.stderr
    assert steps_in(out) == [1]  # from the first optimizer's step to the second


def test_a_killed_program_is_reported_too(tmp_path, train):
    train.write_text(TRAIN.replace('print("trained")', "import os; os.kill(os.getpid(), 9)"))
    out = tmp_path / "out"
    done = stepscope_does("record", "-o", out, "--", sys.executable, train, 4, 0, 0)
    assert done.returncode == 128 + 9
    assert "signal 9" in done.stderr
    (path,) = out.glob("*.stepscope")
    assert stepscope.open(path).ranks[0].events > 20


RANKS = """
import os, torch, torch.distributed
torch.distributed.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    model(torch.ones(4, 64)).sum().backward()
    optimizer.step()
torch.distributed.destroy_process_group()
os._exit(0)  # on its way out PyTorch 2.15 aborts now and then, recorded or not
"""


def test_each_rank_of_torchrun_has_a_file(tmp_path):
    api = pytest.importorskip("torch.distributed.elastic.multiprocessing.api")
    try:
        api.to_map(api.Std.from_str("0"), 2)
    except AttributeError:
        pytest.skip("torchrun of this PyTorch does not start under this Python")
    program, out = tmp_path / "ranks.py", tmp_path / "out"
    program.write_text(RANKS)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torchrun = ("-m", "torch.distributed.run", "--nproc_per_node", 2, "--master_addr", "127.0.0.1", "--master_port", port)
    done = stepscope_does("record", "--steps", "1:4", "-o", out, "--", sys.executable, *torchrun, program)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name.split(".")[0] for path in out.iterdir()) == ["rank0", "rank1"]
    job = stepscope.open(out)
    assert [rank.steps for rank in job.ranks] == [[1, 2, 3], [1, 2, 3]]
    (matched,) = job.analyze("clock_alignment").tables[1]
    # At least two of three steps: a rank may continue and stop before its thread has recorded the end of the last reduction.
    assert matched["by_order"] >= 2


SPAWNED = """
import os, sys, torch, torch.distributed
def train(rank, store):
    torch.distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=2)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        model(torch.ones(4, 8)).sum().backward()
        optimizer.step()
    torch.distributed.barrier()
    os._exit(0)  # on its way out PyTorch 2.15 aborts now and then, recorded or not
if __name__ == "__main__":
    torch.ones(4).sum()
    torch.multiprocessing.spawn(train, args=("file://" + sys.argv[1],), nprocs=2)
"""


def test_the_process_that_spawns_ranks_is_none_of_them(tmp_path):
    program, out = tmp_path / "spawned.py", tmp_path / "out"
    program.write_text(SPAWNED)
    done = stepscope_does("record", "-o", out, "--", sys.executable, program, tmp_path / "store")
    assert done.returncode == 0, done.stderr
    assert len(list(out.iterdir())) == 3
    assert [rank.steps for rank in stepscope.open(out).ranks] == [[1, 2, 3], [1, 2, 3]]


LOADER = """
import time, torch
class Notes(torch.utils.data.Dataset):
    def __len__(self):
        return 30
    def __getitem__(self, number):
        end = time.monotonic() + 0.02
        while time.monotonic() < end: pass
        return torch.ones(4)
if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in torch.utils.data.DataLoader(Notes(), batch_size=2, num_workers=1):
        model(batch).sum().backward()
        optimizer.step()
"""


def test_of_two_programs_that_a_script_starts_one_is_reported(tmp_path, train):
    other = tmp_path / "serve.py"
    other.write_text("import torch\nfor _ in range(50): torch.nn.Linear(8, 8)(torch.ones(4, 8))\n")
    script = f'"{sys.executable}" "{train}" 10 0 0; "{sys.executable}" "{other}" --port 80'
    out = tmp_path / "out"
    done = stepscope_does("record", "-o", out, "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert len(list(out.glob("*.stepscope"))) == 2
    said = " ".join(done.stdout.split())
    assert "A file is of another program than train.py 10 0 0 (serve.py --port 80) and is left out." in said


@pytest.mark.skipif(not (3, 11) <= sys.version_info < (3, 14), reason="stacks are sampled on Python 3.11 to 3.13")
def test_the_lines_of_loader_workers_are_sampled(tmp_path):
    program, out = tmp_path / "loader.py", tmp_path / "out"
    program.write_text(LOADER)
    done = stepscope_does("record", "-o", out, "--", sys.executable, program)
    assert done.returncode == 0, done.stderr
    workers = stepscope.open(out).analyze("lines")["Lines of workers"]
    dearest = max(zip(workers["self"], workers["line"], workers["text"]))
    assert dearest[1:] == ("loader.py(8): Notes.__getitem__", "while time.monotonic() < end: pass")
    assert "workers spend" in done.stdout


def test_the_site_customization_behind_runs_too(tmp_path, train):
    (tmp_path / "sitecustomize.py").write_text("print('customized')")
    done = stepscope_does(
        "record", "-o", tmp_path / "out", "--", sys.executable, train, 1, 0, 0, env={"PYTHONPATH": str(tmp_path)}
    )
    assert done.stdout.startswith("customized\ntrained\n")


def test_a_program_without_pytorch(tmp_path):
    done = stepscope_does("record", "-o", tmp_path / "out", "--", sys.executable, "-c", "print('hello')")
    assert done.returncode == 1
    assert done.stdout == "hello\n"
    assert "nothing was recorded" in done.stderr and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["record"], "needs a program after --"),
        (["record", "--steps", "5:2", "--", "true"], "FIRST:END"),
        (["record", "--", "/no/such/program"], "was not started"),
        (["record", "-o", "/dev/null/folder", "--", "true"], "/dev/null/folder: the folder cannot be created: Not a directory"),
        (["run"], "needs a program after --"),
        (["attach", "--steps", "1"], "needs a process id"),
        (["attach", "one", "--steps", "1"], "is not a process id"),
        (["attach", "1"], "say how much to record"),
    ],
)
def test_misuse_is_a_sentence(tmp_path, words, said):
    done = stepscope_does(*words, cwd=tmp_path)
    assert done.returncode in (1, 2) and said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("mine")
    done = stepscope_does("record", "-o", tmp_path, "--", sys.executable, "-c", "pass")
    assert done.returncode == 1 and "is not empty" in done.stderr


def test_a_folder_of_this_second_may_be_there_already(tmp_path, train):
    now = time.time()
    for second in range(120):
        (tmp_path / time.strftime("stepscope-%Y%m%d-%H%M%S", time.localtime(now + second))).mkdir()
    done = stepscope_does("record", "--", sys.executable, train, 2, 0, 0, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = tmp_path.glob("stepscope-*-*-*")
    assert folder.name.endswith("-2") and steps_in(folder) == [1]
