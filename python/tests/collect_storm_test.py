"""Programs that start and end many processes while they are recorded."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from collecting import CALLS, exported
from stepscope import _collect


def named(path: Path, name: str) -> int:
    return sum(event["name"] == name for event in exported(path))


def own(path: str) -> None:
    """The recording that a child makes."""
    _collect.open(path, 4, 0)
    _collect.start()
    with _collect.record_function("child"):
        pass
    _collect.stop()
    _collect.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("method", "count"), [("fork", 40), ("spawn", 6)])
def test_children_record_for_themselves(tmp_path: Path, method: str, count: int) -> None:
    done = threading.Event()
    made = 0

    def work() -> None:
        nonlocal made
        while not done.is_set():
            with _collect.record_function("parent"):
                made += 1
            done.wait(0.0001)

    path = tmp_path / "parent.stepscope"
    _collect.open(path, 64, 0)
    try:
        _collect.start()
        assert _collect.python_start(CALLS) == ""
        busy = threading.Thread(target=work, daemon=True)
        busy.start()
        context = multiprocessing.get_context(method)
        children = [context.Process(target=own, args=(str(tmp_path / f"{i}.stepscope"),)) for i in range(count)]
        for child in children:
            child.start()
        for child in children:
            child.join()
            assert child.exitcode == 0
        done.set()
        busy.join()
    finally:
        _collect.python_stop()
        _collect.stop()
        assert _collect.close() == 0
    assert named(path, "parent") == made > 0
    assert named(path, "child") == 0
    for i in range(count):
        assert named(tmp_path / f"{i}.stepscope", "child") == 1
        assert named(tmp_path / f"{i}.stepscope", "parent") == 0


def test_programs_started_in_a_row_leave_no_word(tmp_path: Path) -> None:
    program = f"""
import os, subprocess, sys
from stepscope import _collect
_collect.open({os.fspath(tmp_path / "outer.stepscope")!r}, 4, 0); _collect.start()
for _ in range(30):
    with _collect.record_function("start"): subprocess.run(["true"], check=True)
_collect.stop(); assert _collect.close() == 0
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert named(tmp_path / "outer.stepscope", "start") == 30
