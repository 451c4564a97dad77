"""A small training loop, recorded by one of two profilers: workload.py torch|stepscope OUTPUT.json

The work is the same under both; only the recorder differs.
"""

import json
import sys

import torch


def step(model, optimizer, data, target):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(data), target)
    loss.backward()
    optimizer.step()
    return loss.item()


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
    for _ in range(20):  # warms clocks and caches, loads libraries
        step(model, optimizer, data.cuda(), target)
    torch.cuda.synchronize()
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]) as prof:
        for number in range(50):
            with profiler.record_function(f"step {number}"):
                step(model, optimizer, data.cuda(), target)
        torch.cuda.synchronize()
    prof.export_chrome_trace(output)
    averages = [
        {"name": a.key, "on_device": int(a.device_type) != 0, "count": a.count, "us": a.device_time_total, "own_us": a.self_device_time_total}
        for a in prof.key_averages()
        if a.self_device_time_total > 0 and not a.is_user_annotation
    ]
    with open(output + ".averages", "w", encoding="utf-8") as file:
        json.dump(averages, file)


main(*sys.argv[1:])
