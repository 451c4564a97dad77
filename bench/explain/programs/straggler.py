"""Rank 2 of 4 sleeps 15 ms before each step; healthy: none does."""
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import training

RANKS = 4


def build(healthy, draw):
    width = int(320 * draw.uniform(0.9, 1.1))
    model = DistributedDataParallel(torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(4)]))
    batch = torch.randn(64, width)

    def step(_):
        if not healthy and dist.get_rank() == 2:
            time.sleep(0.015)
        model.zero_grad()
        model(batch).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
