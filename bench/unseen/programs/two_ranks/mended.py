"""Trains a credit scoring network on two processes."""
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

SEED = 17
WORLD_SIZE = 2
STEPS = 60
BATCH_SIZE = 192
ROWS = 8000
FEATURES = 40
WIDTH = 96
BLOCKS = 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + F.gelu(self.linear(self.norm(x)))


class ScoreNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(FEATURES, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, customers):
        x = self.blocks(self.enter(customers))
        return self.head(self.norm(x)).squeeze(-1)


def make_customers(rank):
    """Every process has its own part of the customers, the rule is the same for all."""
    rule = torch.Generator().manual_seed(SEED)
    weights = torch.randn(FEATURES, generator=rule) / FEATURES ** 0.5
    generator = torch.Generator().manual_seed(SEED + 1 + rank)
    customers = torch.randn(ROWS, FEATURES, generator=generator)
    risk = 3 * customers @ weights + 0.5 * torch.randn(ROWS, generator=generator)
    return customers, (risk > 0).float()


def train(rank, rendezvous):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=WORLD_SIZE)
    customers, defaults = make_customers(rank)
    batches = torch.Generator().manual_seed(100 + rank)

    # the same seed everywhere, so that all processes start with the same weights
    torch.manual_seed(SEED)
    model = DistributedDataParallel(ScoreNet())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9)

    step_times = []
    for step in range(STEPS):
        started = time.perf_counter()
        rows = torch.randint(0, ROWS, (BATCH_SIZE,), generator=batches)
        scores = model(customers[rows])
        loss = F.binary_cross_entropy_with_logits(scores, defaults[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        last_loss = loss.item()
        step_times.append(time.perf_counter() - started)

    if rank == 0:
        print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
        print(f"result={last_loss:.6f}")
    dist.destroy_process_group()


def main():
    # both processes run on this machine
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(os.path.join(folder, "rendezvous"),), nprocs=WORLD_SIZE)


if __name__ == "__main__":
    main()
