"""`stepscope attach`, with running programs that `stepscope run` did not start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from attaching import PROGRAM, needs_program, stepscope_does, steps_in, wait_for

import stepscope

ENTERS = (3, 14)
"""The first Python that another process may hand a script."""
pytestmark = [needs_program, pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")]
modern = pytest.mark.skipif(sys.version_info < ENTERS, reason="sys.remote_exec is of Python 3.14")
ancient = pytest.mark.skipif(sys.version_info >= ENTERS, reason="from Python 3.14 on, nothing needs a debugger")

TRAIN = """
import pathlib, sys, time, torch
torch.set_num_threads(1)
class Twice(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)
model = torch.nn.Linear(8, 8)
optimizer = (Twice if "twice" in sys.argv else torch.optim.SGD)(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10) if "scheduled" in sys.argv else None
pathlib.Path("ready").touch()
until = time.monotonic() + 300
while time.monotonic() < until:
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
    if scheduler: scheduler.step()
    time.sleep(0.01)
"""
WAIT = """
import pathlib, time
{}
pathlib.Path("ready").touch()
for _ in range(6000): time.sleep(0.05)
"""


class Running:
    """A program that nobody prepared for being recorded."""

    def __init__(self, folder, *words, python=sys.executable, within=(), **environment):
        self.folder = folder
        environment = {**os.environ, "PYTHONWARNINGS": "ignore", **environment}
        with open(folder / "said", "wb") as said:
            self.process = subprocess.Popen([*within, python, *words], cwd=folder, env=environment, stdout=said, stderr=said)
        self.pid = self.process.pid
        wait_for(lambda: (folder / "ready").exists() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()

    def attach(self, *words, within=()):
        words = [*within, PROGRAM, "attach", str(self.pid), *map(str, words or ["--steps", "1"])]
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        return subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False)

    def is_refused(self, *words, within=()):
        """What attach says. It recorded nothing, and the program goes on."""
        done = self.attach(*words, within=within)
        assert done.returncode == 1 and self.process.poll() is None and self.said() == ""
        assert sorted(path.name for path in self.folder.iterdir()) == ["program.py", "ready", "said"]
        return " ".join(done.stderr.split())

    def said(self):
        return (self.folder / "said").read_text()


@pytest.fixture
def runs(tmp_path):
    """Runs a Python program, and ends it after the test."""
    all = []

    def run(text, *words, before=(), **options):
        (tmp_path / "program.py").write_text(text)
        all.append(Running(tmp_path, *before, "program.py", *words, **options))
        return all[-1]

    yield run
    for one in all:
        one.process.kill()
        one.process.wait(timeout=60)


def letters():
    return set(Path(os.environ.get("TMPDIR", "/tmp")).glob("stepscope-attach-*"))


def is_recorded_again_and_again(program, *words):
    before = letters()
    done = program.attach("--steps", 3, "-o", "first", *words)
    if "gdb" in done.stderr and "not permitted" in done.stderr:
        pytest.skip("gdb may not trace processes here")
    assert done.returncode == 0, done.stderr
    assert len(steps_in(program.folder / "first")) == 3
    done = program.attach("--steps", 2, "-o", "second")
    assert done.returncode == 0 and "--inject stops" not in done.stderr, done.stderr
    assert len(steps_in(program.folder / "second")) == 2
    recorded = stepscope.open(next((program.folder / "second").glob("*.stepscope")))
    assert any("AddmmBackward" in str(name) for name in recorded.analyze("operators")[0]["name"])
    assert letters() == before and program.process.poll() is None


kinds = pytest.mark.parametrize("kind", ["plain", "scheduled", "twice"])


@modern
@kinds
def test_a_program_is_recorded_that_nobody_prepared(runs, kind):
    is_recorded_again_and_again(runs(TRAIN, kind))


@ancient
@kinds
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_gdb_makes_a_program_listen(runs, kind):
    is_recorded_again_and_again(runs(TRAIN, kind), "--inject")


@modern
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
@pytest.mark.parametrize("off", ["option", "variable"])
def test_remote_debugging_that_is_off_is_named(runs, off):
    option = {"before": ["-X", "disable-remote-debug"]} if off == "option" else {"PYTHON_DISABLE_REMOTE_DEBUG": "1"}
    program = runs(TRAIN, **option)
    said = program.is_refused()
    cause = "-X disable-remote-debug" if off == "option" else "PYTHON_DISABLE_REMOTE_DEBUG"
    assert f"forbids remote debugging ({cause}): start it with `stepscope run -- PROGRAM`" in said and "--inject" in said
    is_recorded_again_and_again(program, "--inject")


@ancient
def test_a_python_that_cannot_be_entered_is_named(runs):
    said = runs(WAIT.format("import torch")).is_refused()
    version = "{}.{}".format(*sys.version_info[:2])
    assert f"runs Python {version}, which no other program can enter (from 3.14 on it can)" in said
    assert "start it with `stepscope run -- PROGRAM`; or use --inject" in said


@ancient
def test_without_gdb_it_is_said_how_to_get_it(runs, tmp_path_factory):
    program = runs(WAIT.format("import torch"))
    done = stepscope_does("attach", program.pid, "--steps", 1, "--inject", env={"PATH": str(tmp_path_factory.mktemp("empty"))})
    assert done.returncode == 1 and "needs gdb, which is not installed: `apt-get install gdb`" in done.stderr


@modern
def test_a_program_without_pytorch_is_told_to_import_it(runs):
    assert "has not imported PyTorch yet; attach again when it has" in runs(WAIT.format("pass")).is_refused()


@modern
def test_a_python_without_the_package_borrows_the_one_of_stepscope(runs, tmp_path_factory):
    site = Path(stepscope.__file__).parents[1]
    if site.parents[2] != Path(PROGRAM).resolve().parents[1]:
        pytest.skip("the package is not installed beside the program")
    others = tmp_path_factory.mktemp("others")
    for path in site.iterdir():
        if path.name != "stepscope":
            (others / path.name).symlink_to(path)
    is_recorded_again_and_again(runs(f"import sys; sys.path[sys.path.index({str(site)!r})] = {str(others)!r}\n" + TRAIN))


@modern
def test_a_main_thread_that_waits_is_left_alone_until_it_goes_on(runs):
    before = letters()
    program = runs("import pathlib, time, torch; pathlib.Path('ready').touch(); time.sleep(40)\n" + TRAIN)
    said = program.is_refused()
    assert "waiting until its main thread runs Python code" in said
    assert "its main thread has run no Python code for 20 s: it waits in a C function" in said
    assert len(letters() - before) == 1
    wait_for(lambda: letters() == before)
    done = program.attach("--steps", 2, "-o", "out")
    assert done.returncode == 0 and len(steps_in(program.folder / "out")) == 2, done.stderr


def test_what_is_no_python_is_named(tmp_path):
    with subprocess.Popen(["sleep", "300"]) as other:
        done = stepscope_does("attach", other.pid, "--steps", 1, cwd=tmp_path)
        other.kill()
    assert done.returncode == 1 and "runs no Python but /" in done.stderr and list(tmp_path.iterdir()) == []
    done = stepscope_does("attach", other.pid, "--steps", 1, cwd=tmp_path)
    assert done.returncode == 1 and f"process {other.pid}: has ended, or never was" in done.stderr


SEALED = "import ctypes, torch; assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0"
"""After PR_SET_DUMPABLE, only CAP_SYS_PTRACE permits to trace the process."""


def test_a_process_that_may_not_be_traced_is_named(runs):
    within = []
    if os.geteuid() == 0:
        within = ["setpriv", "--bounding-set=-sys_ptrace"]
        if shutil.which("setpriv") is None or subprocess.run([*within, "true"], check=False).returncode != 0:
            pytest.skip("root's right to trace processes cannot be dropped here")
    said = runs(WAIT.format(SEALED)).is_refused(within=within)
    assert "the system does not let this user trace it (ptrace)" in said
    assert "kernel.yama.ptrace_scope=0" in said and "--cap-add=SYS_PTRACE" in said and "stepscope run -- PROGRAM" in said


def test_another_users_process_is_named(runs):
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root starts processes of other users")
    with subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups", "sleep", "300"]) as other:
        wait_for(lambda: "\t65534\t65534" in Path(f"/proc/{other.pid}/status").read_text())
        done = stepscope_does("attach", other.pid, "--steps", 1)
        other.kill()
    assert done.returncode == 1 and "belongs to the user with id 65534; run attach as that user" in done.stderr


def test_a_program_with_other_files_is_named(tmp_path):
    hidden = tmp_path / "temporary"
    hidden.mkdir()
    shell = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none "{hidden}" && exec "$0" "$@"', sys.executable, "-c"]
    if shutil.which("unshare") is None or subprocess.run([*shell, "pass"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no other view of the file system can be made here")
    with subprocess.Popen([*shell, "print(flush=True); import time; time.sleep(300)"], stdout=subprocess.PIPE) as other:
        other.stdout.read(1)
        done = stepscope_does("attach", other.pid, "--steps", 1, env={"TMPDIR": str(hidden)})
        other.kill()
    assert done.returncode == 1 and "has other files than this shell, as in a container; run attach inside that container" in done.stderr
    assert list(hidden.iterdir()) == []
