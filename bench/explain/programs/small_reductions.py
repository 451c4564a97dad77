"""Each gradient is reduced on its own after backward; healthy: in buckets, by DistributedDataParallel."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import training

RANKS = 2


def build(healthy, draw):
    width = int(128 * draw.uniform(0.9, 1.1))
    model = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(40)])
    if healthy:
        model = DistributedDataParallel(model)
    batch = torch.randn(1024, width)

    def step(_):
        model.zero_grad()
        model(batch).sum().backward()
        if not healthy:
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)

    return step


if __name__ == "__main__":
    training.main()
