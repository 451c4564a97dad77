"""`stepscope attach`, with programs that `stepscope run` started."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from attaching import PROGRAM, has_a_step, needs_program, stepscope_does, steps_in, wait_for, written

pytestmark = needs_program


@pytest.fixture
def train(tmp_path):
    return written(tmp_path)


class Waiting:
    """A program that waits to be recorded."""

    def __init__(self, program, short):
        self.environment = {**os.environ, "TMPDIR": short, "PYTHONWARNINGS": "ignore"}
        self.folder = Path(short) / f"stepscope-{os.getuid()}"
        before = set(self.sockets())
        self.process = subprocess.Popen(
            [PROGRAM, "run", "--", sys.executable, str(program), "100000", "0.005", "0"], env=self.environment, stdout=subprocess.DEVNULL
        )
        until = time.monotonic() + 60
        while not (new := set(self.sockets()) - before):
            assert time.monotonic() < until, "no socket"
            time.sleep(0.05)
        (self.socket,) = new
        self.pid = int(self.socket.name.split("-")[1])

    def sockets(self):
        return self.folder.glob("control-*.sock")

    def attach(self, *words):
        return stepscope_does("attach", self.pid, *words, env=self.environment)

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=60)


@pytest.fixture
def short():
    folder = tempfile.mkdtemp()  # the path of a socket is at most 107 bytes long
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def waiting(short, train):
    program = Waiting(train, short)
    yield program
    program.end()


@pytest.fixture
def running(waiting):
    return waiting.pid, waiting.environment, waiting.socket


def test_a_running_program_is_recorded_again_and_again(tmp_path, running):
    process, environment, socket = running
    assert oct(socket.stat().st_mode)[-3:] == "600"
    for name, options, count in [("a", ["--steps", "3"], 3), ("b", ["--steps", "2", "--stacks", "none", "--shapes", "none"], 2)]:
        done = stepscope_does("attach", process, *options, "-o", tmp_path / name, env=environment)
        assert done.returncode == 0, done.stderr
        assert len(steps_in(tmp_path / name)) == count
    done = stepscope_does("attach", process, "--seconds", "1", "-o", tmp_path / "c", env=environment)
    assert done.returncode == 0, done.stderr
    assert len(steps_in(tmp_path / "c")) > 10


def test_who_started_it_stands_for_it(tmp_path, running):
    pid, environment, _ = running
    runner = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]
    done = stepscope_does("attach", runner, "--steps", 2, "-o", tmp_path / "out", env=environment)
    assert done.returncode == 0, done.stderr
    assert len(steps_in(tmp_path / "out")) == 2


def test_nonsense_on_the_socket_harms_nothing(tmp_path, running):
    import socket as sockets

    process, environment, path = running
    for request in [b"", b"\n", b"not json\n", b"[]\n", b'{"folder": 1}\n', json.dumps({"steps": "x", "folder": "/"}).encode() + b"\n"]:
        with sockets.socket(sockets.AF_UNIX) as caller:
            caller.settimeout(30)
            caller.connect(str(path))
            caller.sendall(request)
            caller.shutdown(sockets.SHUT_WR)
            assert caller.recv(4096).startswith(b"error ")
    done = stepscope_does("attach", process, "--steps", "1", "-o", tmp_path / "out", env=environment)
    assert done.returncode == 0, done.stderr


class Attached:
    """A running `stepscope attach`."""

    def __init__(self, program, *words):
        self.process = subprocess.Popen(
            [PROGRAM, "attach", str(program.pid), *map(str, words)],
            env=program.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def says(self, what):
        for line in self.process.stderr:
            if what in line:
                return
        raise AssertionError(f"it never said {what!r}")

    def end(self):
        """Its exit code, and the rest of its output."""
        said = self.process.communicate(timeout=60)[1]
        return self.process.returncode, said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_attach_ends_the_recording_and_reports_it(tmp_path, waiting, number):
    out = tmp_path / "out"
    attached = Attached(waiting, "--steps", 90000, "-o", out)
    attached.says("it keeps running while recorded")
    second = waiting.attach("--steps", 1, "-o", tmp_path / "second")
    assert second.returncode == 1 and not (tmp_path / "second").exists()
    assert f"process {waiting.pid}: is already being recorded; wait until that recording ends" in second.stderr
    wait_for(lambda: list(out.glob("*.stepscope")))
    time.sleep(1)  # a step takes some ms
    attached.process.send_signal(number)
    code, said = attached.end()
    assert code == 0 and f"recorded in {out}" in said
    assert len(steps_in(out)) >= 1
    again = waiting.attach("--steps", 2, "-o", tmp_path / "again")
    assert again.returncode == 0, again.stderr


def test_a_killed_attach_ends_the_recording(tmp_path, waiting):
    attached = Attached(waiting, "--steps", 90000, "-o", tmp_path / "out")
    wait_for(lambda: list((tmp_path / "out").glob("*.stepscope")))
    time.sleep(1)
    attached.process.kill()
    attached.end()
    wait_for(lambda: waiting.attach("--steps", 2, "-o", tmp_path / "again").returncode == 0)
    assert len(steps_in(tmp_path / "again")) == 2
    assert len(steps_in(tmp_path / "out")) >= 1


def test_a_second_interrupt_waits_no_longer(tmp_path, waiting):
    attached = Attached(waiting, "--steps", 90000, "-o", tmp_path / "out")
    attached.says("it keeps running while recorded")
    os.kill(waiting.pid, signal.SIGSTOP)
    try:
        attached.process.send_signal(signal.SIGINT)
        attached.says("stopping the recording")
        attached.process.send_signal(signal.SIGINT)
        assert attached.end()[0] == -signal.SIGINT
    finally:
        os.kill(waiting.pid, signal.SIGCONT)
    wait_for(lambda: waiting.attach("--steps", 1, "-o", tmp_path / "again").returncode == 0)


def test_the_request_of_one_who_has_gone_is_not_carried_out(tmp_path, waiting):
    import socket as sockets

    gone = tmp_path / "gone"
    gone.mkdir()
    os.kill(waiting.pid, signal.SIGSTOP)
    with sockets.socket(sockets.AF_UNIX) as caller:
        caller.connect(str(waiting.socket))
        caller.sendall(json.dumps({"seconds": "1000", "folder": str(gone)}).encode() + b"\n")
    os.kill(waiting.pid, signal.SIGCONT)
    done = waiting.attach("--steps", 1, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert list(gone.iterdir()) == []


LOOP = """
import pathlib, sys, torch
torch.set_num_threads(1)
x = torch.ones(8, 8)
while not pathlib.Path(sys.argv[0]).with_name("end").exists():
    x @ x
"""


def test_without_a_step_nothing_is_recorded(tmp_path, short):
    loop, out = tmp_path / "loop.py", tmp_path / "out"
    loop.write_text(LOOP)
    program = Waiting(loop, short)
    try:
        interrupted = Attached(program, "--steps", 5, "-o", out)
        interrupted.says("is at step 0")
        interrupted.process.send_signal(signal.SIGINT)
        code, said = interrupted.end()
        assert code == 1 and f"process {program.pid} began no step before the request ended, so nothing was recorded" in said
        assert not out.exists()

        attached = Attached(program, "--steps", 5, "-o", out)
        attached.says(f"process {program.pid} has made no step (no optimizer.step()) for 5 s")
        (tmp_path / "end").touch()
        code, said = attached.end()
        assert code == 1 and said == f"stepscope: process {program.pid} ended before a step began, so nothing was recorded\n"
        assert not out.exists()
    finally:
        program.end()


def test_a_program_that_ends_meanwhile_is_reported(tmp_path, waiting, train):
    out = tmp_path / "out"
    attached = Attached(waiting, "--steps", 90000, "-o", out)
    wait_for(lambda: has_a_step(out))
    os.kill(waiting.pid, signal.SIGKILL)
    code, said = attached.end()
    assert code == 0 and f"process {waiting.pid} ended; its recording up to then follows" in said and f"recorded in {out}" in said
    assert list(waiting.sockets()) == [waiting.socket]
    another = Waiting(train, str(waiting.folder.parent))
    try:
        assert list(another.sockets()) == [another.socket]
        assert list(another.folder.glob(f"*-{waiting.pid}-*")) == []
    finally:
        another.end()
