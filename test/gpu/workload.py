"""Programs for a GPU, each recorded by one of two profilers: workload.py CHECK torch|stepscope OUTPUT.json

The work is the same under both; only the recorder differs. OUTPUT.json is a dict of what that profiler saw; compare.py compares two of them.
"""

import json
import os
import re
import sys
import time
from collections import Counter

import torch

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def exported(prof):
    """The events of the profiler's own export."""
    path = f"{sys.argv[3]}.trace"
    prof.export_chrome_trace(path)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    os.remove(path)
    return events


def counted(counter):
    return sorted([*key, count] for key, count in counter.items())


def timed(work):
    """Seconds that work() takes, with what it started on the device."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def small_model():
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    return torch.nn.Sequential(torch.nn.Linear(2048, 4096), torch.nn.ReLU(), torch.nn.LayerNorm(4096), torch.nn.Linear(4096, 2048)).cuda()


def captured(model, data):
    """A CUDA graph of the forward pass, which has run before."""
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        model(data)
    return graph


def warmed(model, data):
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        model(data)
    stream.synchronize()


def training(profiler):
    """50 steps with a replayed graph and copies from pageable memory, and 20,000 launches of a tiny kernel."""
    steps_, launches_ = 50, 20_000
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data, target = torch.randn(1024, 2048), torch.randn(1024, 2048, device="cuda")
    warmed(model, data.cuda())
    graph = captured(model, data.cuda())
    counter = torch.zeros(4, device="cuda")

    def steps():
        for number in range(steps_):
            with profiler.record_function(f"step {number}"):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(model(data.cuda()), target)
                loss.backward()
                optimizer.step()
                graph.replay()
                loss.item()

    def launches():
        for _ in range(launches_):
            counter.add_(1)

    def recorded():
        return profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA])

    steps()  # warms clocks and caches, loads libraries
    cost = {"step": timed(steps) / steps_, "launch": timed(launches) / launches_}
    prof = recorded()
    begin = time.perf_counter()
    prof.start()
    cost["first start"] = time.perf_counter() - begin
    cost["recorded step"] = timed(steps) / steps_
    begin = time.perf_counter()
    prof.stop()
    prof.export_chrome_trace(f"{sys.argv[3]}.first")
    cost["stop and export"] = time.perf_counter() - begin
    os.remove(f"{sys.argv[3]}.first")
    with recorded():
        cost["recorded launch"] = timed(launches) / launches_
    # torch.profiler gives a CUDA call outside of ops the kernels of the op whose number is, by chance, the call's. Both count from 1.
    averages = [a for a in prof.key_averages() if a.self_device_time_total > 0 and not a.is_user_annotation and not re.match("cu(da)?[A-Z]", a.key)]
    work = [e for e in exported(prof) if e.get("cat") in DEVICE]
    calls = {e["args"]["correlation"] for e in exported(prof) if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    return {
        "counts": counted(Counter((e["cat"], e["name"]) for e in work)),
        "time": {cat: sum(e["dur"] for e in work if e["cat"] == cat) for cat in DEVICE},
        "averages": sorted([a.key, int(a.device_type) != 0, a.count] for a in averages),
        "op time": sum(a.device_time_total for a in averages if int(a.device_type) == 0),
        "unlinked": sum(e["args"]["correlation"] not in calls for e in work),
        "without op": sum("External id" not in e["args"] for e in work if e["cat"] == "kernel"),
        "cost": cost,
    }


def memory(profiler):
    """What the caching allocator reports while a model trains, by record and by op."""
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.randn(256, 2048, device="cuda")

    def step():
        optimizer.zero_grad()
        model(data).square().mean().backward()
        optimizer.step()

    step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], profile_memory=True) as prof:
        step()
        step()
        torch.cuda.synchronize()
    records = sorted((e for e in exported(prof) if e["name"] == "[memory]" and e["args"]["Device Type"] == 1), key=lambda e: e["ts"])
    keys = ("Device Id", "Bytes", "Total Allocated", "Total Reserved")
    return {
        "records": [[e["args"][key] for key in keys] for e in records],
        "by op": sorted([a.key, a.self_device_memory_usage] for a in prof.key_averages() if a.self_device_memory_usage != 0),
        "peak": torch.cuda.max_memory_allocated(),
    }


def graph(profiler):
    """Kernels by the op that launched them, of the forward pass run by ops; under stepscope of its graph, by the op that captured them."""
    model, data = small_model(), torch.randn(256, 2048, device="cuda")
    warmed(model, data)
    captured(model, data)  # the libraries' work for the first capture
    ours = profiler.__name__.startswith("stepscope")
    replays = 3
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]) as prof:
        if ours:
            replayed = captured(model, data)
            for _ in range(replays):
                replayed.replay()
        else:
            with torch.no_grad():
                for _ in range(replays):
                    model(data)
        torch.cuda.synchronize()
    events = exported(prof)
    ops = {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
    kernels = [e for e in events if e.get("cat") == "kernel" and (not ours or e["args"].get("graph id"))]
    makers = (e["args"].get("captured by", "") if ours else ops.get(e["args"].get("External id"), "") for e in kernels)
    return {"kernels": counted(Counter(zip(makers, (e["name"] for e in kernels))))}


def triton_kernels(profiler):
    """Launches of a Triton kernel that the program wrote. torch.profiler has no ops for them: it says what ran."""
    import triton

    import triton_kernel

    x = torch.ones(1000, 3, device="cuda")
    launches, blocks = 5, triton.cdiv(x.numel(), 256)

    def launch():
        triton_kernel.scale[(blocks,)](x, 2.0, x.numel(), BLOCK=256, num_warps=2)

    launch()  # compiles it
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA], record_shapes=True) as prof:
        for _ in range(launches):
            launch()
        torch.cuda.synchronize()
    events = exported(prof)
    ops = {e["args"]["External id"]: e["args"] for e in events if e.get("cat") == "cpu_op" and e["name"] == "scale"}
    kernels = [e["args"] for e in events if e.get("cat") == "kernel" and e["name"] == "scale"]
    if not profiler.__name__.startswith("stepscope"):
        wanted = [[k["grid"], k["block"], k["shared memory"], [1000, 3]] for k in kernels]
        return {"launches": wanted}
    told = []
    for kernel in kernels:
        op = ops.get(kernel.get("External id"), {})
        grid = op.get("grid", "")
        grid = json.loads(grid) if isinstance(grid, str) and grid else grid
        told.append([grid, [32 * op.get("num_warps", 0), 1, 1], op.get("shared"), op.get("Input Dims", [[]])[0]])
    return {"launches": told}


CHECKS = {"training": training, "memory": memory, "graph": graph, "triton": triton_kernels}


def main(check, profiler_name, output):
    if profiler_name == "torch":
        from torch import profiler
    else:
        from stepscope import profiler
    found = CHECKS[check](profiler)
    with open(output, "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
