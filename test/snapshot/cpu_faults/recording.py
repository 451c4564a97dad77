"""Records steps of a program with memory, Python stacks and shapes."""

import torch
from torch.profiler import ProfilerActivity, profile, schedule


def record(step, path=None, steps=10):
    """Runs step(0), step(1), …; all but the first two are in the trace at `path`. Without a path nothing is recorded."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if path is None:
        for number in range(steps):
            step(number)
        return
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True, profile_memory=True,
                 schedule=schedule(wait=1, warmup=1, active=steps - 2, repeat=1), on_trace_ready=lambda prof: prof.export_chrome_trace(path)) as prof:  # fmt: skip
        for number in range(steps):
            step(number)
            prof.step()
