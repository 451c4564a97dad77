"""An exported recording with devices, read by other tools. The devices are a fake CUPTI's, so all counts are known."""

import os
import pathlib
import subprocess

import pytest

import peers
import stepscope
from program import ROOT
from stepscope import _core

STEPS = ["0", "1", "2"]
KERNELS = {"ampere_sgemm_32x32_sliced1x4_nn": 3, "kern(float*, int)": 3}
OPS = {"aten::copy_": 3, "aten::linear": 3, "aten::addmm": 3, "aten::item": 3}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """test/cupti/training_loop.cpp, built, run and exported."""
    folder = tmp_path_factory.mktemp("devices")
    library = pathlib.Path(_core.__file__).parent
    compiler = [*os.environ.get("CXX", "c++").split(), "-std=c++20", "-O0", f"-I{ROOT / 'src'}", f"-I{ROOT / 'test'}"]
    (folder / "driver.cpp").write_text("")

    def build(*words):
        done = subprocess.run([*compiler, *map(str, words)], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[:2000]

    sources = ROOT / "test" / "cupti"
    cupti, driver, program, recording = (folder / name for name in ("cupti.so", "driver.so", "program", "run.stepscope"))
    build("-shared", "-fPIC", *sources.glob("fake_*.cpp"), "-Wl,-soname,libcupti.so.12", "-o", cupti)
    build("-shared", "-fPIC", folder / "driver.cpp", "-Wl,-soname,libcuda.so.1", "-o", driver)
    build(
        sources / "training_loop.cpp", f"-L{library}", f"-Wl,-rpath,{library}", "-lstepscope_cupti", "-lstepscope_collect",
        "-ldl", "-o", program,
    )  # fmt: skip
    subprocess.run([program, recording, cupti, driver], timeout=60, check=True)
    output = folder / "fake_1.1700000000000000000.pt.trace.json"
    _core.export_recording(os.fsencode(recording), os.fsencode(output), [])
    return output


def test_it_is_whole(trace):
    peers.validate(trace)
    (rank,) = stepscope.open(trace).ranks
    assert len(rank.steps) == 3
    kernels = stepscope.open(trace).analyze("kernels").tables[0]
    assert dict(zip(kernels["name"].to_list(), kernels["count"].to_list(), strict=True)) == KERNELS


def test_the_plugin(trace):
    """The plugin counts steps marked on the device in addition to those on the host, as in torch.profiler's files."""
    told = peers.plugin(trace)
    assert (told["steps"], told["kernels"], told["ops"]) == (STEPS, KERNELS, OPS)
    assert "kernel" in told["views"]


def test_hta(trace):
    told = peers.hta(trace)
    assert told["steps"] == [f"ProfilerStep#{step}" for step in STEPS]
    assert (told["kernels"], told["ops"]) == (KERNELS, OPS)
