"""MemoryHistory, with a fake of the allocator: the snapshots that it writes are real, their events are those that the test plays.

Not tried: a real device, as the machines that run these tests have none.
"""

import os
import sys
import threading

import pytest
from attaching import TRAIN, needs_program, stepscope_does
from fake_memory import MIB, FakeAllocator

import stepscope
from stepscope.profiler import MemoryHistory, ProfilerError
from stepscope.profiler._memory_history import asking_line, of_torch


@pytest.fixture
def fake():
    return FakeAllocator()


def history_in(folder, fake, **options):
    return MemoryHistory(folder, allocator=fake, observe=fake.observers.append, **options)


def test_a_snapshot_at_the_end(tmp_path, fake):
    with history_in(tmp_path / "new", fake, max_entries=500, stacks="all") as history:
        assert fake.history == ("all", 500)
        fake.free(fake.alloc(3 * MIB))
        fake.alloc(2 * MIB)
    assert fake.history is None
    assert [path.name for path in history.written] == ["memory.end.pickle"]
    assert list((tmp_path / "new").iterdir()) == history.written


def test_steps_with_a_higher_peak(tmp_path, fake):
    with history_in(tmp_path, fake) as history:
        for size in (10, 10, 20, 20, 21):  # 21 is 5 % above 20, not more
            fake.free(fake.alloc(size * MIB))
            history.step()
            assert fake.cleared > 0
    assert [path.name for path in history.written] == ["memory.peak.pickle", "memory.end.pickle"]


def test_an_allocation_that_fails(tmp_path, fake, capfd):
    with history_in(tmp_path, fake, name="rank0") as history:
        fake.alloc(50 * MIB)
        with pytest.raises(MemoryError):
            fake.alloc(40 * MIB)
        line = sys._getframe().f_lineno - 1
        said = capfd.readouterr().err
        assert said.startswith("stepscope: ") and "fake_memory.py(" in said
        assert "could not get 40.0 MiB of device 0, which had 14.0 MiB free; ask: stepscope" in said
        assert str(tmp_path / "rank0.oom.pickle") in said
        [failed] = stepscope.open(tmp_path / "rank0.oom.pickle").show.oom()[0].to_dicts()
        assert failed["place"] == f"{__file__}({line}): test_an_allocation_that_fails"
        assert (failed["cause"], failed["request"], failed["used"]) == ("one_request", 40 * MIB, 50 * MIB)
        for _ in range(5):
            with pytest.raises(MemoryError):
                fake.alloc(40 * MIB)
    assert sorted(path.name for path in history.written) == ["rank0.end.pickle", "rank0.oom.pickle", "rank0.oom2.pickle", "rank0.oom3.pickle"]


def test_the_line_that_asks():
    line = sys._getframe().f_lineno + 1
    assert asking_line() == f"{__file__}({line}): test_the_line_that_asks"
    in_thread = []
    thread = threading.Thread(target=in_thread.append, args=(0,))  # a thread without a line of the program, as that of a backward pass
    thread.run = lambda: in_thread.append(asking_line())
    thread.start()
    thread.join()
    assert in_thread[0].startswith(f"{__file__}(")


def test_an_observer_that_outlives_the_history_is_silent(tmp_path, fake, capfd):
    with history_in(tmp_path, fake) as history:
        fake.alloc(1 * MIB)
    with pytest.raises(MemoryError):
        fake.alloc(100 * MIB)
    del history
    with pytest.raises(MemoryError):
        fake.alloc(100 * MIB)
    assert capfd.readouterr().err == ""


def test_a_snapshot_that_cannot_be_written_leaves_the_programs_error(tmp_path, fake, capfd):
    with history_in(tmp_path, fake):
        fake._dump_snapshot = None
        with pytest.raises(MemoryError):
            fake.alloc(100 * MIB)
        assert "no snapshot of the failed allocation" in capfd.readouterr().err
        del fake._dump_snapshot


def test_a_forked_child_writes_nothing(tmp_path, fake):
    with history_in(tmp_path, fake):
        child = os.fork()
        if child == 0:
            history_in(tmp_path, fake).stop()
            os._exit(0 if not list(tmp_path.iterdir()) else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_with_a_profiler_the_snapshot_joins_its_steps_ops_and_modules(tmp_path, fake):
    """Each matrix product of a layer allocates, as on a device; the largest one is in the second layer of step 2."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    from stepscope.profiler import profile, schedule

    class Allocating(TorchDispatchMode):
        size, held = MIB, []

        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            if "addmm" in str(op):
                self.held.append(fake.alloc(self.size))
            return op(*args, **(kwargs or {}))

    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8))
    path = tmp_path / "run.stepscope"
    history = history_in(tmp_path, fake, name="run")
    steps = schedule(wait=0, warmup=1, active=6)
    with profile(with_modules=True, schedule=steps, path=path, memory_history=history, backend="stepscope") as prof, Allocating() as mode:
        for step in range(5):
            mode.size = MIB * (10 if step == 2 else 1)
            model(torch.ones(2, 8))
            while mode.held:
                fake.free(mode.held.pop())
            prof.step()
    assert history.written[-1] == tmp_path / "run.end.pickle"
    trace = stepscope.open([path, tmp_path / "run.end.pickle"])
    held, ran = (trace.show.memory_peak(by="module")[i].to_dicts() for i in (1, 3))
    [ran] = ran
    assert (ran["step"], ran["op"]) == (2, "aten::linear")
    assert ran["module"].endswith("Linear_1"), ran
    assert [(row["count"], row["bytes"]) for row in held] == [(1, 10 * MIB), (1, 10 * MIB)]
    assert {row["place"][-len("Linear_0") :] for row in held} == {"Linear_0", "Linear_1"}
    assert "4 steps, those of the recording" in "".join(trace.show.leaks().notes)


def test_a_profiler_makes_the_history_of_a_folder(tmp_path, fake, monkeypatch):
    import stepscope.profiler._memory_history as module
    from stepscope.profiler import profile

    monkeypatch.setattr(module, "of_torch", lambda: (fake, fake.observers.append))
    with profile(activities=[], memory_history=tmp_path / "new", backend="stepscope") as prof:
        assert fake.history is not None
    assert [path.name for path in prof.memory_history.written] == ["memory.end.pickle"]
    assert fake.history is None
    with pytest.raises(ProfilerError, match="memory_history|without Kineto"):
        profile(memory_history=tmp_path, backend="kineto")


def test_refusals(tmp_path, fake):
    with pytest.raises(ProfilerError, match="stacks must be"):
        history_in(tmp_path, fake, stacks="none")
    with pytest.raises(ProfilerError, match="max_entries"):
        history_in(tmp_path, fake, max_entries=0)
    history = history_in(tmp_path, fake)
    history.stop()
    history.start()
    with pytest.raises(ProfilerError, match="already on"):
        history.start()
    history.stop()


def test_without_a_device():
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a device")
    with pytest.raises(ProfilerError, match="sees no device"):
        of_torch()


FAKED = """
import stepscope.profiler._memory_history as history
import fake_memory
fake_memory.fake = fake = fake_memory.FakeAllocator()
history.of_torch = lambda: (fake, fake.observers.append)
"""
LEAKS = """
import fake_memory, torch
fake, kept = fake_memory.fake, []
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    while True:
        kept.append(fake.alloc(5 << 20))
        fake.free(fake.alloc(1 << 20))
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
except MemoryError:
    print("out of memory")
"""


@needs_program
def test_a_recorded_program_that_runs_out_of_memory(tmp_path, monkeypatch):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(FAKED)
    (tmp_path / "leaks.py").write_text(LEAKS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), os.path.dirname(__file__)]))
    out = tmp_path / "out"
    done = stepscope_does("record", "--memory-history", "-o", out, "--", sys.executable, tmp_path / "leaks.py")
    assert done.returncode == 0, done.stderr
    assert "out of memory" in done.stdout
    assert "could not get 5.0 MiB of device 0" in done.stderr
    assert sorted(path.suffixes[-2] for path in out.glob("*.pickle")) == [".end", ".oom", ".peak"]
    trace = stepscope.open(out)
    [failed] = trace.show.oom()[0].to_dicts()
    assert failed["place"] == f"{tmp_path / 'leaks.py'}(8): <module>"
    growing = trace.show.leaks()[1].to_dicts()
    assert [row["place"] for row in growing] == [failed["place"]]
    assert "is taken for the memory snapshot of" in "".join(trace.notes)


@needs_program
def test_without_a_device_the_recording_goes_on(tmp_path):
    train = tmp_path / "train.py"
    train.write_text(TRAIN)
    done = stepscope_does("record", "--memory-history", "--steps", "1:3", "-o", tmp_path / "out", "--", sys.executable, train, 5, 0, 0)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no memory history: PyTorch sees no device") == 1
    assert list((tmp_path / "out").glob("*.stepscope"))
