"""Where the observer comes from: the wheel, a cache, or a compile that nobody waits for.

The compiler is a script that waits until it may end, then copies the observer that the tests have.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

import stepscope  # noqa: E402
from stepscope.profiler import _observer  # noqa: E402
from stepscope.profiler._observer import shipped  # noqa: E402

LIMIT = 200.0
COMPILER = """
echo compiling >>"$FOLDER/compiles"
while [ ! -e "$FOLDER/gate" ]; do sleep 0.05; done
[ -e "$FOLDER/observer.so" ] || { echo "observer.cpp:1: error: this is not C++" >&2; exit 1; }
for output; do :; done
cp "$FOLDER/observer.so" "$output"
"""
PROGRAM = """
import sys, warnings
import torch
from stepscope.profiler import profile
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with profile(**eval(sys.argv[1])) as prof:
        torch.ones(2) + 1
print(type(prof).__module__, "aten::add" in [event.name for event in prof.events()])
print(*[warning.message for warning in caught if "stepscope" in str(warning.message)])
"""
OURS, THEIRS = "stepscope.profiler._profile True", "torch.profiler.profiler True"
needs_kineto = pytest.mark.skipif(not torch.autograd.kineto_available(), reason="this PyTorch was built without Kineto, so profilers wait")


class Machine:
    """An empty cache and a compiler under control."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "cc").write_text(COMPILER)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "CXX": f"/bin/sh {folder / 'cc'}", "FOLDER": str(folder)}

    def works(self) -> None:
        (self.folder / "observer.so").write_bytes(_observer.observer(torch).read_bytes())

    def ends(self) -> None:
        """The compile may end."""
        (self.folder / "gate").touch()

    def start(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen([sys.executable, *words], env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def record(self, arguments: str = "{}") -> list[str]:
        """The kind of profiler, and the warnings."""
        out, err = self.start("-c", PROGRAM, arguments).communicate(timeout=LIMIT)
        assert out.count("\n") == 2, err
        return out.splitlines()

    def compiles(self) -> int:
        file = self.folder / "compiles"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def wait_for(self, pattern: str) -> Path:
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if found := list(self.folder.glob(pattern)):
                return found[0]
            time.sleep(0.05)
        raise AssertionError(f"there is no {pattern} after {LIMIT:.0f} s")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    if shipped.fitting(_observer.SHIPPED, Path(torch.__file__).parent, torch.__version__, _observer.abi_of(torch)):
        pytest.skip("the package carries an observer of this PyTorch, so nothing is compiled")
    made = Machine(tmp_path)
    made.works()
    yield made
    made.ends()


@needs_kineto
def test_the_first_recording_does_not_wait(machine):
    kind, said = machine.record("{'megabytes': 16}")  # the compile cannot end before this does
    assert kind == THEIRS
    assert said.count("torch.profiler records instead of stepscope") == 1 and "being compiled in the background" in said
    machine.ends()  # the program that started the compile has ended
    machine.wait_for("cache/stepscope/observers/*.so")
    assert machine.record() == [OURS, ""]
    assert machine.compiles() == 1


@needs_kineto
def test_two_processes_compile_once(machine):
    both = [machine.start("-c", PROGRAM, "{}") for _ in range(2)]
    assert [process.communicate(timeout=LIMIT)[0].splitlines()[0] for process in both] == [THEIRS, THEIRS]
    machine.ends()
    machine.wait_for("cache/stepscope/observers/*.so")
    assert machine.compiles() == 1


@pytest.mark.parametrize("arguments", ["{'backend': 'stepscope'}", "{'path': PATH}", "{'keep': 'newest'}"])
def test_what_torch_profiler_cannot_do_waits(machine, tmp_path, arguments):
    waiting = machine.start("-c", PROGRAM, arguments.replace("PATH", repr(str(tmp_path / "run.stepscope"))))
    assert waiting.stderr is not None
    assert any("waiting for the observer" in line for line in waiting.stderr)  # ends at the first such line
    machine.ends()
    out, err = waiting.communicate(timeout=LIMIT)
    assert out.splitlines() == [OURS, ""]
    assert "observer" not in err
    assert machine.compiles() == 1


@needs_kineto
def test_a_compile_that_fails_is_not_repeated_by_recordings(machine, tmp_path):
    (tmp_path / "observer.so").unlink()
    machine.ends()
    assert "being compiled in the background" in machine.record()[1]
    log = machine.wait_for("cache/stepscope/observers/*.log")
    for _ in range(2):
        kind, said = machine.record()
        assert kind == THEIRS
        assert said.count("does not compile: observer.cpp:1: error: this is not C++") == 1 and str(log) in said
    assert machine.compiles() == 1
    os.utime(log, (time.time() - 2 * _observer.AGAIN,) * 2)
    assert "being compiled in the background" in machine.record()[1]
    end = time.monotonic() + LIMIT
    while log.stat().st_mtime < time.time() - _observer.AGAIN and time.monotonic() < end:
        time.sleep(0.05)
    assert machine.compiles() == 2


def test_the_command_that_prepares(machine, tmp_path):
    machine.ends()
    (tmp_path / "observer.so").unlink()
    for _ in range(2):  # it tries again each time
        process = machine.start("-m", "stepscope.profiler.prepare")
        err = process.communicate(timeout=LIMIT)[1]
        assert process.returncode == 1 and "does not compile: observer.cpp:1: error: this is not C++" in err
    machine.works()
    process = machine.start("-m", "stepscope.profiler.prepare")
    out = process.communicate(timeout=LIMIT)[0]
    assert process.returncode == 0 and str(machine.wait_for("cache/stepscope/observers/*.so")) in out
    assert machine.compiles() == 3 and not list(tmp_path.glob("cache/stepscope/observers/*.log"))
    assert machine.record() == [OURS, ""]


def test_a_cache_that_cannot_be_written(machine, tmp_path):
    """Root may write anywhere, so a file takes the place of the cache."""
    (tmp_path / "cache").write_text("")
    (tmp_path / "tmp").mkdir()
    machine.environment["TMPDIR"] = str(tmp_path / "tmp")
    machine.ends()
    assert machine.record("{'backend': 'stepscope'}") == [OURS, ""]
    assert list(tmp_path.glob("tmp/stepscope-*/observers/*.so"))
    assert machine.record() == [OURS, ""]
    assert machine.compiles() == 1


def test_a_program_that_waits_for_attach_has_it_compiled(machine):
    program = "import torch\nfrom stepscope.profiler import _outside\n_outside.begin(torch)"
    machine.environment["STEPSCOPE_RECORD"] = json.dumps({"wait": "1"})
    process = machine.start("-c", program)
    assert "stepscope" not in process.communicate(timeout=LIMIT)[1]
    machine.ends()
    machine.wait_for("cache/stepscope/observers/*.so")


@pytest.fixture
def carried(tmp_path):
    """A PyTorch's folder, and a folder with an observer of it."""
    home, folder = tmp_path / "torch", tmp_path / "observers"
    for file in ("lib/libtorch_cpu.so", "lib/libc10.so", "include/ATen/a.h", "include/c10/b.h"):
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text(file)
    folder.mkdir()
    shipped.describe(folder / "torch-2.9.1-abi1.so", home / "include", ["c10/b.h", "ATen/a.h"])
    return folder, home


@pytest.mark.parametrize("version", ["2.9.1", "2.9.0+cpu", "2.9.1+cu128"])
def test_an_observer_fits_equal_headers(carried, version):
    folder, home = carried
    assert shipped.fitting(folder, home, version, 1) == folder / "torch-2.9.1-abi1.so"


@pytest.mark.parametrize(("version", "abi"), [("2.9.1", 0), ("2.10.0", 1), ("2.90.0", 1), ("3.9.1", 1)])
def test_an_observer_of_another_version_or_abi_does_not_fit(carried, version, abi):
    assert shipped.fitting(*carried, version, abi) is None


@pytest.mark.parametrize("changed", ["include/ATen/a.h", "include/c10/b.h"])
def test_an_observer_of_other_headers_does_not_fit(carried, changed):
    folder, home = carried
    (home / changed).write_text("something else")
    assert shipped.fitting(folder, home, "2.9.1", 1) is None
    (home / changed).unlink()
    assert shipped.fitting(folder, home, "2.9.1", 1) is None


def test_an_observer_of_libraries_with_other_names_does_not_fit(carried):
    folder, home = carried
    (home / "lib" / "libc10.so").rename(home / "lib" / "libc10.so.2.9")
    assert shipped.fitting(folder, home, "2.9.1", 1) is None


def test_the_observer_is_in_the_package_or_in_a_cache_of_ours():
    try:
        found = _observer.observer(torch)
    except stepscope.Error as error:
        pytest.skip(str(error))
    assert found.parent in (_observer.SHIPPED, _observer.of_user(), _observer.of_machine())
