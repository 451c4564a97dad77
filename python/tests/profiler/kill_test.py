"""A PyTorch program that is killed while ops, memory and Python calls are recorded: every committed record is kept.

``STEPSCOPE_KILLS=50`` kills it 50 times.
"""

import ctypes
import json
import mmap
import os
import random
import signal
import time

import pytest
from collecting import short

torch = pytest.importorskip("torch")

from stepscope import _core  # noqa: E402
from stepscope.profiler import ProfilerActivity, profile  # noqa: E402

KILLS = int(os.environ.get("STEPSCOPE_KILLS", "8"))


def leaf(x):
    return torch.add(x, x)


def program(path, done):
    """Stores the number of finished ops in ``done`` after each op, in one store: a kill must not find half of it."""
    torch.set_num_threads(1)
    x = torch.ones(4)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, with_stack=True, path=path):
        for i in range(1, 1 << 40):
            leaf(x)
            done.value = i


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_kill_leaves_every_committed_record(tmp_path):
    with profile(activities=[ProfilerActivity.CPU]):  # loads the observer
        leaf(torch.ones(4))
    moments = random.Random(0)
    for kill in range(KILLS):
        path = tmp_path / f"{kill}.stepscope"
        done = ctypes.c_uint64.from_buffer(mmap.mmap(-1, 8))
        child = os.fork()
        if child == 0:
            try:
                program(path, done)
            finally:
                os._exit(1)
        while done.value == 0 and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        count = done.value
        assert count > 0
        output = tmp_path / "killed.json"
        assert _core.export_recording(os.fsencode(path), os.fsencode(output), []) == []  # nothing was lost
        events = json.loads(output.read_bytes())["traceEvents"]
        assert sum(e["name"] == "aten::add" for e in events) >= count
        assert sum(e["name"] == "[memory]" and e["args"]["Bytes"] > 0 for e in events) >= count
        assert sum(e.get("cat") == "python_function" and short(e["name"]) == "leaf" for e in events) >= count
        path.unlink()
