"""All gradients are in one bucket, reduced after backward; healthy: buckets of 2 MB during backward."""
import torch
from torch.nn.parallel import DistributedDataParallel

import training

RANKS = 2


def build(healthy, draw):
    width = int(768 * draw.uniform(0.9, 1.1)) // 8 * 8
    model = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(8)])
    model = DistributedDataParallel(model, bucket_cap_mb=2 if healthy else 1000)
    batch = torch.randn(64, width)

    def step(_):
        model.zero_grad()
        model(batch).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
