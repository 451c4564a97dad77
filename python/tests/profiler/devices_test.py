"""Device times in events and tables of hand-made recordings. Nothing here needs PyTorch."""

import pytest
from made_recording import PYTHON, USER, MadeThread, tensor, write

from stepscope.profiler._event_list import all_events, key_averages
from stepscope.profiler._rows import Rows


def us(*values):
    return [value * 1000 for value in values]


@pytest.fixture
def rows(tmp_path):
    """A step of two products of 10 µs. The first launches gemm, 100 µs, and split, 20 µs; the second gemm, 60 µs. A launch
    outside of ops launches the kernel "alone", 5 µs."""
    main = MadeThread(7, 1)
    main.op("aten::mm", *us(10, 20), inputs=tensor(2, 3)).op("aten::mm", *us(30, 40), inputs=tensor(4, 3))
    main.op("aten::linear", *us(5, 45)).op("ProfilerStep#2", *us(0, 50), scope=USER)
    device = MadeThread(99, 0)
    device.kernel("gemm", *us(20, 120), 1).kernel("split", *us(120, 140), 1).kernel("gemm", *us(140, 200), 2)
    device.kernel("alone", *us(300, 305), 3, stream=9, device=1)
    device.call("cudaLaunchKernel", *us(12, 14), 7, 1).call("cudaLaunchKernel", *us(32, 36), 7, 2)
    device.call("cudaLaunchKernel", *us(60, 61), 7, 3)
    return Rows([write(tmp_path / "made.stepscope", [main, device])])


def test_events(rows):
    events = all_events(rows)
    by_name = {}
    for event in events:
        by_name.setdefault(event.name, []).append(event)
    step, on_stream = by_name["ProfilerStep*"]
    (linear,) = by_name["aten::linear"]
    first, second = by_name["aten::mm"]
    gemm, other = by_name["gemm"]
    assert [tuple(kernel) for kernel in first.kernels] == [("gemm", 0, 100.0), ("split", 0, 20.0)]
    assert [tuple(kernel) for kernel in second.kernels] == [("gemm", 0, 60.0)]
    assert linear.kernels == step.kernels == by_name["alone"][0].kernels == []
    assert (first.device_time_total, first.self_device_time_total, first.device_time) == (120, 120, 120)
    assert (linear.device_time_total, linear.self_device_time_total) == (180, 0)
    assert (step.device_time_total, step.self_device_time_total) == (180, 0)
    assert (gemm.device_time_total, gemm.self_device_time_total) == (100, 100)
    assert (gemm.cpu_time_total, gemm.self_cpu_time_total, gemm.cpu_parent, gemm.cpu_children) == (0, 0, None, [])
    assert (int(gemm.device_type), gemm.device_index, gemm.device_resource_id, gemm.use_device) == (1, 0, 7, "cuda")
    assert (int(first.device_type), first.device_index, first.device_resource_id, first.use_device) == (0, -1, 1, "cuda")
    assert (by_name["alone"][0].device_index, by_name["alone"][0].device_resource_id) == (1, 9)
    launch = by_name["cudaLaunchKernel"][0]
    assert launch.cpu_parent is first and launch.kernels == [] and launch.device_time_total == 0
    assert first.self_cpu_time_total == 8 and second.self_cpu_time_total == 6
    assert (on_stream.trace_name, on_stream.is_user_annotation, int(on_stream.device_type)) == ("ProfilerStep#2", True, 1)
    assert on_stream.device_time_total == pytest.approx(180.002)


def test_older_names(rows):
    (first, *_) = (event for event in all_events(rows) if event.name == "aten::mm")
    for name, value in (("cuda_time", 120), ("cuda_time_total", 120), ("self_cuda_time_total", 120), ("self_cuda_memory_usage", 0)):
        with pytest.warns(FutureWarning, match=f"`{name}` is deprecated, use"):
            assert getattr(first, name) == value


def test_a_table(rows):
    text = key_averages(rows, False, 0).table(sort_by="self_cuda_time_total", row_limit=4)
    head = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    head += ["Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg", "# of Calls"]
    lines = text.splitlines()
    assert [cell.strip() for cell in lines[1].split("  ") if cell.strip()] == head
    assert [line.split() for line in lines[3:7]] == [
        ["ProfilerStep*", "0.00%", "0.000us", "0.00%", "0.000us", "0.000us", "180.002us", "97.30%", "180.002us", "180.002us", "1"],
        ["aten::mm", "27.45%", "14.000us", "39.22%", "20.000us", "10.000us", "180.000us", "97.30%", "180.000us", "90.000us", "2"],
        ["gemm", "0.00%", "0.000us", "0.00%", "0.000us", "0.000us", "160.000us", "86.49%", "160.000us", "80.000us", "2"],
        ["split", "0.00%", "0.000us", "0.00%", "0.000us", "0.000us", "20.000us", "10.81%", "20.000us", "20.000us", "1"],
    ]
    assert lines[-2:] == ["Self CPU time total: 51.000us", "Self CUDA time total: 185.000us"]


def test_averages_by_shape(rows):
    averages = key_averages(rows, True, 0)
    products = [average for average in averages if average.key == "aten::mm"]
    assert [(a.input_shapes, a.device_time_total, a.self_device_time_total, a.device_time) for a in products] == [
        ([[2, 3]], 120, 120, 120),
        ([[4, 3]], 60, 60, 60),
    ]
    assert products[0].use_device == "cuda" and products[0].self_device_time_total_str == "120.000us"
    total = averages.total_average()
    assert total.self_device_time_total == pytest.approx(2 * 180 + 5 + 180.002)  # ops, work and the stream range, as in torch.profiler


def test_stacks_by_device_time(tmp_path):
    """The launch call has the same stack, but no device time, so it is not listed."""
    main = MadeThread(7, 1).op("aten::mm", *us(10, 20)).op("a.py(3): f", *us(0, 50), scope=PYTHON)
    device = MadeThread(99, 0).kernel("gemm", *us(20, 120), 1).call("cudaLaunchKernel", *us(12, 14), 7, 1)
    events = all_events(Rows([write(tmp_path / "made.stepscope", [main, device])]))
    events.export_stacks(tmp_path / "stacks.txt", metric="self_cuda_time_total")
    assert (tmp_path / "stacks.txt").read_text() == "a.py(3):_f 100\n"


def test_no_device(tmp_path):
    averages = key_averages(Rows([write(tmp_path / "made.stepscope", [MadeThread(7, 1).op("aten::mm", 0, 1000)])]), False, 0)
    assert "CUDA" not in averages.table() and averages[0].use_device is None
