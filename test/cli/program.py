"""Shared by the program's tests: the program, a made trace, and a folder of inputs."""

import fcntl
import gzip
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def made_trace(steps=3):
    """Steps of 1 ms: an op that launches a kernel, and a name that attacks the terminal."""
    events = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
    ]
    for step in range(steps):
        at = step * 1000
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": 990},
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at + 10, "dur": 100,
             "args": {"External id": step + 1}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 20, "dur": 10,
             "args": {"External id": step + 1, "correlation": step + 1}},
            {"ph": "X", "cat": "kernel", "name": "evil\x1b[31m<script>,\"quoted\"", "pid": 0, "tid": 7, "ts": at + 60,
             "dur": 400, "args": {"External id": step + 1, "correlation": step + 1, "device": 0, "stream": 7}},
        ]
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Test GPU"}], "traceEvents": events}


def run(*arguments, **options):
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "CLICOLOR_FORCE")}
    environment.update({"TERM": "xterm", "COLUMNS": "100"})
    environment.update(options.pop("env", {}))
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, env=environment, timeout=120, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def on_terminal(*arguments, env=None):
    """The stdout of the program on a terminal of 80 x 24."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    environment.update({"TERM": "xterm"})
    environment.update(env or {})
    process = subprocess.Popen([PROGRAM, *arguments], stdout=child, stderr=subprocess.DEVNULL, env=environment)
    os.close(child)
    out = b""
    while True:
        ready, _, _ = select.select([parent], [], [], 60)
        if not ready:
            break
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    os.close(parent)
    return process.wait(timeout=60), out.decode()


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="stepscope_cli_")
        cls.trace = os.path.join(cls.folder, "trace.json")
        with open(cls.trace, "w") as out:
            json.dump(made_trace(), out)
        cls.ranks = os.path.join(cls.folder, "ranks")
        os.mkdir(cls.ranks)
        for rank in range(2):
            with gzip.open(os.path.join(cls.ranks, f"rank{rank}.json.gz"), "wt") as out:
                json.dump(dict(made_trace(), distributedInfo={"rank": rank, "world_size": 2, "backend": "nccl"}), out)
        cls.cut = os.path.join(cls.folder, "cut.json")
        with open(cls.trace) as whole, open(cls.cut, "w") as out:
            out.write(whole.read()[:-200])
        code, text, _ = run("list", "--format", "json")
        assert code == 0
        cls.analyses = [row[0] for row in json.loads(text)["tables"][0]["rows"]]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)
