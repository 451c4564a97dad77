"""keep="newest": what is recorded last stays, in Python and from outside."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from collecting import exported

from stepscope.profiler import ProfilerError, profile, record_function

PROGRAM = shutil.which("stepscope")

SERVER = """
import sys, threading, torch
from stepscope import _collect
def request(number):
    with torch.autograd.profiler.record_function(f"request {number}"):
        for _ in range(40): torch.ones(4).add_(1)
for number in range(int(sys.argv[1])):
    thread = threading.Thread(target=request, args=(number,))
    thread.start()
    thread.join()
"""


def test_the_last_steps_stay(tmp_path: Path) -> None:
    with profile(activities=[], megabytes=1, keep="newest") as prof:
        prof.add_metadata("run", "from the start")
        for step in range(400):
            with record_function(f"step {step}"):
                for _ in range(100):
                    with record_function("work"):
                        pass
    with pytest.warns(UserWarning, match="new events have replaced the oldest"):
        names = {event.name for event in prof.events()}
    assert "step 399" in names and "step 0" not in names
    trace = tmp_path / "trace.json"
    with pytest.warns(UserWarning, match="new events have replaced the oldest"):
        prof.export_chrome_trace(trace)
    assert json.loads(trace.read_text())["run"] == "from the start"


def test_a_word_that_is_none_of_the_two() -> None:
    with pytest.raises(ProfilerError, match='must be "oldest" or "newest"'):
        profile(keep="last")  # type: ignore[arg-type]


@pytest.mark.skipif(PROGRAM is None, reason="the program stepscope is not on PATH")
def test_a_server_with_a_thread_per_request(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the program that is recorded needs PyTorch")
    program = tmp_path / "server.py"
    program.write_text(SERVER)
    out = tmp_path / "out"
    words = [str(PROGRAM), "record", "--keep", "newest", "--megabytes", "4", "-o", str(out), "--", sys.executable, str(program), "600"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    assert done.returncode == 0, done.stderr
    assert "Q18" in done.stdout and "Q17" not in done.stdout
    (path,) = out.glob("*.stepscope")
    requests = {event["name"] for event in exported(path) if event["name"].startswith("request ")}
    assert "request 599" in requests and "request 0" not in requests
    assert {f"request {number}" for number in range(570, 600)} <= requests
