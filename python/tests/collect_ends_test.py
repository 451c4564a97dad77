"""Programs that exit, are killed or fork while their Python calls are recorded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from collecting import calls, exported, recorded, short, tree

KILLED = """
import sys
from stepscope import _collect
_collect.open(sys.argv[1], 64, 4); _collect.start(); assert _collect.python_start(1) == ""
def leaf(): pass
done = 0
while True:
    leaf()
    done += 1
    if done % 1000 == 0: print(done, flush=True)
"""


def test_a_kill_leaves_what_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "killed.stepscope"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        while int(program.stdout.readline()) < 20_000:
            pass
        program.send_signal(signal.SIGKILL)
        done = max([20_000, *[int(line) for line in program.stdout.read().split(b"\n")[:-1]]])
    assert program.returncode == -signal.SIGKILL
    assert sum(short(e["name"]) == "leaf" for e in calls(exported(path))) >= done


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_records_nothing(tmp_path: Path) -> None:
    def child_work() -> None: ...

    def work() -> None:
        child = os.fork()
        if child == 0:
            child_work()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0

    assert tree(tmp_path, work) == ("work",)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_may_record_for_itself(tmp_path: Path) -> None:
    def child_work() -> None: ...

    def work() -> None:
        child = os.fork()
        if child == 0:
            events = recorded(own, child_work)
            os._exit(sum(short(e["name"]) == "child_work" for e in calls(events)))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1

    own = tmp_path / "own"
    own.mkdir()
    assert tree(tmp_path, work) == ("work",)


LEFT_ON = """
import sys, threading, time
from stepscope import _collect
_collect.open(sys.argv[1], 4, 4); _collect.start(); assert _collect.python_start(1) == ""
def leaf(): pass
def daemon():
    while True: leaf()
for _ in range(4): threading.Thread(target=daemon, daemon=True).start()
time.sleep(0.05)
"""


def test_a_program_that_ends_while_it_is_recorded(tmp_path: Path) -> None:
    for i in range(5):
        path = tmp_path / f"left_{i}.stepscope"
        done = subprocess.run([sys.executable, "-c", LEFT_ON, str(path)], capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert "leaf" in {short(e["name"]) for e in calls(exported(path))}
