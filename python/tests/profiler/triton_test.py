"""Launches of Triton kernels as ops. The launching code is Triton's own, where it is installed; the compiled kernel and the driver are fakes."""

import collections
import importlib
import json
import types

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from stepscope.profiler import ProfilerActivity, _triton, profile  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
Metadata = collections.namedtuple("Metadata", "num_warps num_stages num_ctas shared name")


def scale(x, factor, n, BLOCK):
    """What the fake kernel would do."""


class Launches:
    """A compiled kernel that is launched by Triton's JITFunction.run, without a device."""

    def __init__(self, monkeypatch):
        compiler = importlib.import_module("triton.compiler.compiler")
        jit = importlib.import_module("triton.runtime.jit")
        driver = importlib.import_module("triton.runtime.driver").driver
        active = types.SimpleNamespace(get_current_device=lambda: 0, get_current_stream=lambda device: 7)
        monkeypatch.setattr(driver, "_active", active)
        self.ran = []
        self.kernel = object.__new__(compiler.CompiledKernel)
        self.kernel.metadata = Metadata(4, 3, 1, 1024, "scale_kernel")
        self.kernel.packed_metadata = (4, 1, 1024)
        self.kernel.name, self.kernel.function, self.kernel.module, self.kernel.src = "scale_kernel", 11, object(), None
        self.kernel._run = self.run
        self.kernel._module_pid = -1  # nothing to unload
        self.jit = jit.JITFunction(scale)
        self.jit.device_caches[0] = (Always(self.kernel), {}, None, None, self.bind)

    def bind(self, *args, **kwargs):
        return dict(zip(("x", "factor", "n", "BLOCK"), args)), [], types.SimpleNamespace()

    def run(self, grid0, grid1, grid2, stream, function, packed, metadata, enter, leave, *args):
        """As Triton's launcher in C."""
        if enter is not None:
            enter(metadata)
        if isinstance(args[2], str):
            raise TypeError("n must be a number")
        self.ran.append((grid0, grid1, grid2))
        torch.ones(3)
        if leave is not None:
            leave(metadata)

    def launch(self, *args):
        self.jit[(5, 2)](*args)


class Always(dict):
    def __init__(self, value):
        self.value = value

    def get(self, key, default=None):
        return self.value


@pytest.fixture
def launches(monkeypatch):
    pytest.importorskip("triton", reason="Triton is not installed")
    return Launches(monkeypatch)


def ops(prof, tmp_path):
    path = tmp_path / "exported.json"
    prof.export_chrome_trace(str(path))
    return [e for e in json.loads(path.read_text())["traceEvents"] if e.get("cat") == "cpu_op"]


def test_a_launch_is_an_op_with_grid_and_arguments(launches, tmp_path):
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        launches.launch(torch.ones(8, 4), 2.5, 32, 64)
        launches.launch(torch.ones(2), 0.5, 2, 64)
    assert launches.ran == [(5, 2, 1)] * 2
    events = ops(prof, tmp_path)
    first, second = (e for e in events if e["name"] == "scale_kernel")
    told = first["args"]
    assert told["Input Dims"] == [[8, 4], [], [], []]
    assert told["Input type"] == ["float", "Scalar", "Scalar", "Scalar"]
    assert told["Concrete Inputs"] == ["", "2.5", "32", "64"]
    assert (told["kernel_backend"], told["num_warps"], told["num_stages"], told["shared"], told["stream"]) == ("triton", 4, 3, 1024, 7)
    assert str(told["grid"]).replace(" ", "") == "[5,2,1]"
    assert second["args"]["Input Dims"][0] == [2]
    inside = next(e for e in events if e["name"] == "aten::ones" and first["ts"] <= e["ts"] <= first["ts"] + first["dur"])
    assert inside["ts"] + inside["dur"] <= first["ts"] + first["dur"]


def test_triton_is_left_as_it_was(launches):
    knobs = importlib.import_module("triton.knobs")
    kernel = type(launches.kernel)
    before = kernel.launch_metadata, list(getattr(knobs.runtime.launch_exit_hook, "calls", []))
    with profile(activities=[ProfilerActivity.CPU]):
        assert kernel.launch_metadata is not before[0]
    assert before == (kernel.launch_metadata, list(getattr(knobs.runtime.launch_exit_hook, "calls", [])))
    launches.launch(torch.ones(1), 1.0, 1, 1)
    assert len(launches.ran) == 1


def test_a_launch_that_fails_is_no_op(launches, tmp_path):
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        with pytest.raises(TypeError):
            launches.launch(torch.ones(1), 1.0, "many", 1)
        launches.launch(torch.ones(1), 1.0, 1, 1)
    assert sum(e["name"] == "scale_kernel" for e in ops(prof, tmp_path)) == 1


def test_launches_of_others_are_left_to_them(launches, tmp_path):
    """Inductor calls launch_metadata from its own launchers, inside a range of its own."""
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        launches.kernel.launch_metadata((1, 1, 1), 7, torch.ones(1))
        _triton.end()
    assert [e["name"] for e in ops(prof, tmp_path) if "kernel" in e["name"]] == []


def test_hooks_before_triton_3_4(monkeypatch, tmp_path):
    """They were attributes of CompiledKernel, and functions or None."""
    called = []

    class CompiledKernel:
        launch_enter_hook = None
        launch_exit_hook = staticmethod(lambda metadata: called.append(metadata))
        metadata, name = Metadata(8, 1, 1, 0, "old"), "old"

        def launch_metadata(self, grid, stream, *args):
            return "metadata"

    compiler = types.ModuleType("triton.compiler.compiler")
    compiler.CompiledKernel = CompiledKernel
    monkeypatch.setitem(__import__("sys").modules, "triton.compiler.compiler", compiler)
    monkeypatch.delitem(__import__("sys").modules, "triton.knobs", raising=False)
    launch = {"__name__": "triton.runtime.jit", "kernel": CompiledKernel()}
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        exec("type(kernel).launch_exit_hook(kernel.launch_metadata((3,), 7))", launch)
    assert called == ["metadata"]
    assert [e["name"] for e in ops(prof, tmp_path)] == ["old"]
