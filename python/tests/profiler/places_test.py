"""Where a file cannot be made, a program goes on as it would under torch.profiler, with one warning."""

import errno
import gc
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import stepscope
from stepscope.profiler import _places, profile, record_function


def record(**arguments):
    """The names of a recording's events, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with profile(activities=[], **arguments) as prof, record_function("work"):
            pass
        names = [event.name for event in prof.events()]
    return names, [str(warning.message) for warning in caught], prof


def refuse(monkeypatch, number, folders):
    """No file can be made in these folders."""
    made = _places._collect.open

    def opened(place, *rest):
        if isinstance(place, Path) and any(place.is_relative_to(folder) for folder in folders):
            raise _places._collect.Failed(number, os.strerror(number))
        return made(place, *rest)

    monkeypatch.setattr(_places._collect, "open", opened)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT, errno.ENODEV])
def test_a_folder_that_takes_no_file(tmp_path, monkeypatch, number):
    refuse(monkeypatch, number, [tmp_path])
    names, said, prof = record(path=tmp_path / "run.stepscope")
    assert names == ["work"]
    assert prof.recording_path.parent == _places.scratch()
    assert len(said) == 1 and f"the recording is in {prof.recording_path}" in said[0] and os.strerror(number) in said[0]


def test_no_file_anywhere(tmp_path, monkeypatch):
    refuse(monkeypatch, errno.EROFS, [tmp_path, _places.scratch()])
    for arguments in ({}, {"path": tmp_path / "run.stepscope"}):
        open_before = len(os.listdir("/proc/self/fd"))
        names, said, prof = record(**arguments)
        assert names == ["work"]
        assert len(said) == 1 and "in memory, and is lost if the program is killed" in said[0]
        prof.export_chrome_trace(str(tmp_path / "run.json"))
        assert stepscope.open(tmp_path / "run.json").ranks
        del prof
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) == open_before


def test_no_temporary_folder(monkeypatch):
    def none():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(_places.tempfile, "gettempdir", none)
    names, said, _ = record()
    assert names == ["work"] and "in memory" in said[0]


def test_mistakes_are_still_errors(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(stepscope.Error, match="is not a recording"):
        record(path=tmp_path / "file")
    with pytest.raises(stepscope.Error, match="folder can be created"):
        record(path=tmp_path / "file" / "run.stepscope")
    assert (tmp_path / "file").read_text() == "mine"


LIMITED = """
import resource, sys, warnings
from stepscope.profiler import profile, record_function
with open("/proc/self/statm") as file:
    pages = int(file.read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (40 << 20), -1))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with profile(activities=[]) as prof, record_function("work"):
        pass
    print([event.name for event in prof.events()], *[warning.message for warning in caught])
"""


def test_a_small_address_space():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['work'] the recording holds at most ") and "MiB instead of 256 MiB" in done.stdout


WITHOUT = """
import sys, warnings
from stepscope.profiler import profile
import torch
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with profile() as prof:
        torch.ones(2) + 1
print(type(prof).__module__, "aten::add" in [event.name for event in prof.events()])
print(*[warning.message for warning in caught if "stepscope" in str(warning.message)])
"""


def without(program, **environment):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, **environment})


def test_no_compiler(tmp_path):
    torch = pytest.importorskip("torch")
    if not torch.autograd.kineto_available():
        pytest.skip("this PyTorch was built without Kineto, so torch.profiler records nothing")
    done = without(WITHOUT, XDG_CACHE_HOME=str(tmp_path), CXX="", PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    kind, said = done.stdout.splitlines()
    assert kind == "torch.profiler.profiler True"
    assert "torch.profiler records instead of stepscope" in said and "install g++" in said
