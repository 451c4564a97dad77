"""Runs a program's steps, recorded or timed. Each program beside this file has one fault, and none with --healthy.

usage: NAME.py [--healthy] [--seed N] [--trace FILE]
Without --trace it prints the seconds of each of ten steps, after three steps of warm-up.
"""
import argparse
import json
import os
import random
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from stepscope.profiler import ProfilerActivity, profile, schedule

WARMUP, RECORDED = 3, 10


def device():
    return "cuda" if os.environ.get("EXPLAIN_DEVICE") else "cpu"


def wait_for_device():
    if device() == "cuda":
        torch.cuda.synchronize()


def linears(draw, width, depth=2):
    """A stack of linear layers of a random width, and a batch for it."""
    width = int(width * draw.uniform(0.9, 1.1)) // 8 * 8
    layers = [torch.nn.Linear(width, width) for _ in range(depth)]
    model = torch.nn.Sequential(*layers).to(device())
    return model, torch.randn(width, width, device=device())


def steps_of(step, prof=None):
    """Seconds of each counted step."""
    taken = []
    for i in range(WARMUP + RECORDED):
        begin = time.perf_counter()
        step(i)
        if prof is not None:
            prof.step()
        else:
            wait_for_device()
        taken.append(time.perf_counter() - begin)
    return taken[WARMUP:]


def measure(program, healthy, seed, trace):
    """{"steps_s": [...]} of one run in this process."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    if device() == "cuda":
        torch.set_float32_matmul_precision("high")  # else plain float32 is a second fault of every program
    step = program.build(healthy, random.Random(seed))
    if not trace:
        return {"steps_s": steps_of(step)}
    kinds = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device() == "cuda" else [])
    with profile(activities=kinds, schedule=schedule(wait=0, warmup=WARMUP, active=RECORDED, repeat=1), record_shapes=True,
                 with_stack=getattr(program, "STACKS", False),
                 on_trace_ready=lambda prof: prof.export_chrome_trace(trace)) as prof:
        return {"steps_s": steps_of(step, prof)}


def rank_of(rank, program, healthy, seed, trace, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=program.RANKS)
    mine = trace.replace(".json", f".rank{rank}.json") if trace else None
    result = measure(program, healthy, seed, mine)
    if rank == 0:
        with open(f"{folder}/result", "w") as out:
            json.dump(result, out)
    dist.barrier()
    dist.destroy_process_group()


def run(program, healthy, seed, trace):
    """One run, in as many processes as the program has ranks."""
    if getattr(program, "RANKS", 1) == 1:
        return measure(program, healthy, seed, trace)
    with tempfile.TemporaryDirectory() as folder:
        ranks = [processes.get_context("fork").Process(target=rank_of, args=(r, program, healthy, seed, trace, folder))
                 for r in range(program.RANKS)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
        with open(f"{folder}/result") as result:
            return json.load(result)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trace")
    options = parser.parse_args()
    print(json.dumps(run(sys.modules["__main__"], options.healthy, options.seed, options.trace)))
