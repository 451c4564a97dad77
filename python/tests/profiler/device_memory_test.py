"""Memory of devices, as their allocators report it. No device is needed: a library reports as the caching allocator for CUDA does."""

import ctypes
import json
import pathlib
import subprocess
import threading

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from stepscope._errors import Error  # noqa: E402
from stepscope.profiler import ProfilerActivity, _observer, profile  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
CPU, CUDA, XPU = 0, 1, 12
KB = 1024
KEYS = ("Device Type", "Device Id", "Addr", "Bytes", "Total Allocated", "Total Reserved")
REPORTS = [  # op, address, bytes, allocated, reserved, type, index
    ("fake::empty", 4096, 512 * KB, 512 * KB, 2048 * KB, CUDA, 1),
    ("fake::empty", 1 << 40, KB, 513 * KB, 2048 * KB, CUDA, 1),
    ("fake::empty", 4096, 64, 64, 2048 * KB, CUDA, 0),
    ("fake::add", 8192, 7, 7, 7, CUDA, 1),
    ("fake::add", 4096, -512 * KB, KB, 2048 * KB, CUDA, 1),
]  # fmt: skip


@pytest.fixture(scope="module")
def allocator(tmp_path_factory):
    """Calls the fake allocator of devices."""
    home = pathlib.Path(torch.__file__).parent
    output = tmp_path_factory.mktemp("allocator") / "libfake_allocator.so"
    source = pathlib.Path(__file__).parent / "fake_allocator.cpp"
    try:
        compiler = _observer.compiler()
    except Error as error:
        pytest.skip(str(error))
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(getattr(torch._C, '_GLIBCXX_USE_CXX11_ABI', True))}"
    flags = ["-std=c++20", "-O1", "-DNDEBUG", "-w", "-fPIC", "-shared", abi, f"-isystem{home / 'include'}"]
    subprocess.run([*compiler, *flags, source, "-o", output, f"-L{home / 'lib'}", "-ltorch_cpu", "-lc10"], check=True)
    report = ctypes.CDLL(str(output)).fake_report
    report.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_int]

    def call(op, *numbers):
        report(op.encode(), *numbers)

    return call


@pytest.fixture
def theirs():
    from torch import profiler
    from torch.autograd.profiler_util import FunctionEventAvg

    if not hasattr(FunctionEventAvg(), "self_device_memory_usage"):
        pytest.skip("this PyTorch's profiler sums the memory of CUDA only")
    return profiler


def exported(prof, tmp_path):
    path = tmp_path / "exported.json"
    prof.export_chrome_trace(str(path))
    return json.loads(path.read_text())["traceEvents"]


def told(events):
    return [tuple(event["args"][key] for key in KEYS) for event in sorted(events, key=lambda e: e["ts"]) if event["name"] == "[memory]"]


def run(allocator):
    for report in REPORTS:
        allocator(*report)


def test_the_allocators_reports_are_in_the_export(allocator, tmp_path):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        run(allocator)
    events = exported(prof, tmp_path)
    assert told(events) == [(kind, index, address, *numbers) for _, address, *numbers, kind, index in REPORTS]
    ops = [e for e in events if e.get("cat") == "cpu_op"]
    for (name, *_), op, memory in zip(REPORTS, ops, (e for e in events if e["name"] == "[memory]")):
        assert op["name"] == name
        assert op["tid"] == memory["tid"]
        assert op["ts"] <= memory["ts"] <= op["ts"] + op["dur"]


def test_the_same_as_torch_profiler(allocator, theirs, tmp_path):
    with theirs.profile(activities=[theirs.ProfilerActivity.CPU], profile_memory=True) as other:
        run(allocator)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        run(allocator)
    assert told(exported(prof, tmp_path)) == told(exported(other, tmp_path))
    by_op = [
        {(a.key, a.device_memory_usage, a.self_device_memory_usage, a.cpu_memory_usage) for a in p.key_averages()} for p in (prof, other)
    ]
    assert by_op[0] == by_op[1]
    assert ("fake::add", 7 - 512 * KB, 7 - 512 * KB, 0) in by_op[0]


def test_every_thread_and_every_device(allocator, tmp_path):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        thread = threading.Thread(target=allocator, args=("fake::empty", 64, 32, 32, 64, XPU, 3))
        thread.start()
        thread.join()
    events = exported(prof, tmp_path)
    assert told(events) == [(XPU, 3, 64, 32, 32, 64)]
    (memory,) = [e for e in events if e["name"] == "[memory]"]
    assert memory["tid"] == thread.native_id


def test_main_memory_is_not_counted_twice(allocator, tmp_path):
    """The reports of PyTorch's CPU allocator take another way: around it."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        allocator("fake::empty", 64, 32, 32, 0, CPU, -1)
        torch.empty(10)
    assert [e[3] for e in told(exported(prof, tmp_path))] == [40, -40]


def test_nothing_unless_asked_for(allocator, tmp_path):
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        run(allocator)
    assert told(exported(prof, tmp_path)) == []
    run(allocator)  # outside of a recording


def test_torch_profiler_gets_its_reports_after_and_beside_ours(allocator, theirs):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True):
        pass
    with theirs.profile(activities=[theirs.ProfilerActivity.CPU], profile_memory=True) as other:
        run(allocator)
    assert sum(a.self_device_memory_usage for a in other.key_averages()) == sum(bytes for _, _, bytes, *_ in REPORTS)


def test_analyses_read_them(allocator, tmp_path):
    import stepscope

    path = tmp_path / "memory.json"
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        run(allocator)
    prof.export_chrome_trace(str(path))
    report = stepscope.open(path).analyze("memory_events")
    peaks = {row["device"]: (row["peak_allocated"], row["peak_reserved"]) for row in report["Peak of each memory"]}
    assert peaks["device 1"] == (513 * KB, 2048 * KB)
    assert peaks["device 0"] == (64, 2048 * KB)


def slot_of_report(library):
    """Where the library's import of c10's function is, relative to its begin."""
    done = subprocess.run(["readelf", "-rW", library], capture_output=True, text=True, check=True)
    (line,) = [line for line in done.stdout.splitlines() if "reportMemoryUsageToProfiler" in line and "JUMP_SLO" in line]
    return int(line.split()[0], 16)


def test_the_real_allocator_of_cuda_is_watched():
    """Loads without a GPU: only what its reports lead to is checked."""
    library = pathlib.Path(torch.__file__).parent / "lib" / "libc10_cuda.so"
    if not library.exists():
        pytest.skip("this PyTorch is not built for CUDA")
    try:
        slot = slot_of_report(library)
    except FileNotFoundError:
        pytest.skip("readelf is not installed")
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True):
        pass
    maps = [line.split() for line in pathlib.Path("/proc/self/maps").read_text().splitlines()]
    base = min(int(words[0].partition("-")[0], 16) for words in maps if words[-1] == str(library))
    target = ctypes.c_size_t.from_address(base + slot).value
    (owner,) = [words[-1] for words in maps if int(words[0].partition("-")[0], 16) <= target < int(words[0].partition("-")[2].split()[0], 16)]
    assert owner == str(_observer.observer(torch))
