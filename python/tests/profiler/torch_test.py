"""The profiler over PyTorch's own ops."""

import threading
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

import stepscope.profiler as sp  # noqa: E402
from stepscope.profiler import ProfilerError, profile, record_function, schedule  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def counts(prof):
    return {average.key: average.count for average in prof.key_averages()}


def test_ops_are_inside_of_ranges():
    with profile(record_shapes=True) as prof:
        with record_function("mine"):
            torch.mm(torch.ones(2, 3), torch.ones(3, 4))
    product = next(event for event in prof.events() if event.name == "aten::mm")
    assert product.cpu_parent.name == "mine" and product.input_shapes == [[2, 3], [3, 4]]
    assert product.device_type == torch.autograd.DeviceType.CPU and sp.DeviceType is torch.autograd.DeviceType


def test_cycles_have_their_own_ops():
    seen = []
    plan = schedule(wait=1, warmup=1, active=1, repeat=2)
    with profile(schedule=plan, on_trace_ready=lambda prof: seen.append(counts(prof))) as prof:
        for step in range(6):
            for _ in range(step):
                torch.relu(torch.ones(1))
            prof.step()
    assert [cycle["aten::relu"] for cycle in seen] == [2, 5]
    assert [cycle["ProfilerStep*"] for cycle in seen] == [1, 1]


def test_shapes_are_told_when_asked_for_after_a_cycle_without():
    for with_shapes in (False, True, False):
        with profile(record_shapes=with_shapes) as prof:
            torch.relu(torch.ones(3))
        relu = next(event for event in prof.events() if event.name == "aten::relu")
        assert relu.input_shapes == ([[3]] if with_shapes else [])


def test_ops_of_all_threads():
    def work():
        for _ in range(10):
            torch.relu(torch.ones(1))

    with profile() as prof:
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counts(prof)["aten::relu"] == 30
    assert len({event.thread for event in prof.events() if event.name == "aten::relu"}) == 3


def test_nothing_is_recorded_without_the_cpu_activity():
    with profile(activities=[]) as prof:
        torch.relu(torch.ones(1))
    assert len(prof.events()) == 0


def test_schedule_and_activities_of_torch_profiler_serve():
    plan = torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=1)
    seen = []
    with profile(
        activities=[torch.profiler.ProfilerActivity.CPU], schedule=plan, on_trace_ready=lambda prof: seen.append(counts(prof))
    ) as prof:
        for _ in range(3):
            torch.relu(torch.ones(1))
            prof.step()
    assert [cycle["aten::relu"] for cycle in seen] == [1]


def test_the_other_backend():
    if not sp.kineto_available():
        with pytest.raises(ProfilerError, match="built without Kineto"):
            profile(backend="kineto")
        return
    seen = []
    plan = schedule(wait=0, warmup=1, active=1, repeat=1)
    given = {"activities": [sp.ProfilerActivity.CPU], "schedule": plan, "on_trace_ready": lambda prof: seen.append(counts(prof))}
    with profile(backend="kineto", **given) as prof:
        for _ in range(2):
            torch.relu(torch.ones(1))
            prof.step()
    assert isinstance(prof, torch.profiler.profile) and seen[0]["aten::relu"] == 1
    with pytest.raises(ProfilerError, match="does not support path"):
        profile(backend="kineto", path="a")


def test_distributed_info(tmp_path):
    import json

    if not torch.distributed.is_available():
        pytest.skip("this PyTorch has no torch.distributed")
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        with profile() as prof:
            torch.ones(1)
        prof.export_chrome_trace(tmp_path / "a.json")
    finally:
        torch.distributed.destroy_process_group()
    info = json.loads((tmp_path / "a.json").read_text())["distributedInfo"]
    assert (info["backend"], info["rank"], info["world_size"]) == ("gloo", 0, 1)


def test_machine_info(tmp_path):
    import json
    import os

    with profile() as prof:
        torch.ones(1)
    prof.export_chrome_trace(tmp_path / "a.json")
    info = json.loads((tmp_path / "a.json").read_text())["machineInfo"]
    assert info == {"cores": len(os.sched_getaffinity(0)), "threads": torch.get_num_threads(), "accelerators": torch.cuda.device_count()}


def test_a_range_may_wait_for_a_future_of_pytorch():
    future = torch.futures.Future()
    with profile() as prof:
        with record_function("waits") as waits:
            after = waits._call_end_callbacks_on_future(future)
        torch.relu(torch.ones(1))
        future.set_result(7)
        assert after.wait() == 7
    event = next(event for event in prof.events() if event.name == "waits")
    relu = next(event for event in prof.events() if event.name == "aten::relu")
    assert event.is_async and event.time_range.end > relu.time_range.end
