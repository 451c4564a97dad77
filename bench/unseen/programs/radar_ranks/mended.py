"""Trains a classifier of radar echoes on two processes, with large batches made of several small ones."""
import os
import statistics
import tempfile
import time
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

SEED = 23
WORLD_SIZE = 2
STEPS = 50
MICRO_BATCHES = 8
MICRO_BATCH_SIZE = 16
ECHOES = 4000
SAMPLES = 256
KINDS = 12
WIDTH = 768
LEARNING_RATE = 0.02


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + F.gelu(self.linear(self.norm(x)))


class EchoNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(SAMPLES, WIDTH)
        self.blocks = nn.Sequential(Residual(), Residual(), Residual())
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, KINDS)

    def forward(self, echoes):
        return self.head(self.norm(self.blocks(self.enter(echoes))))


def make_echoes(rank):
    """Echoes of one pulse shape per kind at a random delay; every process has its own."""
    shapes = torch.Generator().manual_seed(SEED)
    pulses = torch.randn(KINDS, 48, generator=shapes)
    generator = torch.Generator().manual_seed(SEED + 1 + rank)
    kinds = torch.randint(0, KINDS, (ECHOES,), generator=generator)
    delays = torch.randint(0, 24, (ECHOES, 1), generator=generator)
    echoes = 0.4 * torch.randn(ECHOES, SAMPLES, generator=generator)
    echoes.scatter_add_(1, delays + torch.arange(48), pulses[kinds])
    return echoes, kinds


def train_step(model, optimizer, echoes, kinds, batches):
    """One update with the gradients of MICRO_BATCHES small batches."""
    optimizer.zero_grad()
    total = 0.0
    for number in range(MICRO_BATCHES):
        rows = torch.randint(0, ECHOES, (MICRO_BATCH_SIZE,), generator=batches)
        last = number == MICRO_BATCHES - 1
        with nullcontext() if last else model.no_sync():
            loss = F.cross_entropy(model(echoes[rows]), kinds[rows]) / MICRO_BATCHES
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def train(rank):
    echoes, kinds = make_echoes(rank)
    batches = torch.Generator().manual_seed(100 + rank)
    torch.manual_seed(SEED)
    model = DistributedDataParallel(EchoNet())
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    for step in range(STEPS):
        started = time.perf_counter()
        losses.append(train_step(model, optimizer, echoes, kinds, batches))
        step_times.append(time.perf_counter() - started)
    return step_times, losses


def run(rank, rendezvous):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=WORLD_SIZE)
    step_times, losses = train(rank)
    if rank == 0:
        print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
        print(f"result={statistics.mean(losses[-10:]):.6f}")
    dist.barrier()
    dist.destroy_process_group()


def main():
    # both processes run on this machine
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run, args=(os.path.join(folder, "rendezvous"),), nprocs=WORLD_SIZE)


if __name__ == "__main__":
    main()
