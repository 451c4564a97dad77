"""A small training loop, recorded by one of two profilers: workload.py torch|stepscope OUTPUT.json

The work is the same under both; only the recorder differs. Beside OUTPUT.json: the rows of key_averages() with time on the device in
OUTPUT.json.averages, and what recording took in OUTPUT.json.cost.
"""

import json
import sys
import time

import torch

STEPS, LAUNCHES = 50, 20_000


def step(model, optimizer, data, target, graph):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(data), target)
    loss.backward()
    optimizer.step()
    graph.replay()
    return loss.item()


def captured(model, data):
    """A CUDA graph of the forward pass."""
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        model(data)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        model(data)
    return graph


def timed(work):
    """Seconds that work() takes, with what it started on the device."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def main(profiler_name, output):
    if profiler_name == "torch":
        from torch import profiler
    else:
        from stepscope import profiler
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    model = torch.nn.Sequential(
        torch.nn.Linear(2048, 4096), torch.nn.ReLU(), torch.nn.LayerNorm(4096), torch.nn.Linear(4096, 2048)
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data, target = torch.randn(1024, 2048), torch.randn(1024, 2048, device="cuda")
    graph = captured(model, data.cuda())
    counter = torch.zeros(4, device="cuda")

    def steps():
        for number in range(STEPS):
            with profiler.record_function(f"step {number}"):
                step(model, optimizer, data.cuda(), target, graph)

    def launches():
        for _ in range(LAUNCHES):
            counter.add_(1)

    def recorded():
        return profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA])

    steps()  # warms clocks and caches, loads libraries
    cost = {"step": timed(steps) / STEPS, "launch": timed(launches) / LAUNCHES}
    prof = recorded()
    begin = time.perf_counter()
    prof.start()
    cost["first start"] = time.perf_counter() - begin
    cost["recorded step"] = timed(steps) / STEPS
    begin = time.perf_counter()
    prof.stop()
    prof.export_chrome_trace(output)
    cost["stop and export"] = time.perf_counter() - begin
    with recorded():
        cost["recorded launch"] = timed(launches) / LAUNCHES
    averages = [
        {"name": a.key, "on_device": int(a.device_type) != 0, "count": a.count, "us": a.device_time_total, "own_us": a.self_device_time_total}
        for a in prof.key_averages()
        if a.self_device_time_total > 0 and not a.is_user_annotation
    ]
    for ending, found in (("averages", averages), ("cost", cost)):
        with open(f"{output}.{ending}", "w", encoding="utf-8") as file:
            json.dump(found, file)


main(*sys.argv[1:])
