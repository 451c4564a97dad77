"""Every eighth batch takes its worker 250 ms longer, and workers are one batch ahead; healthy: the time is spread evenly."""
import time

import torch
from torch.utils.data import DataLoader, Dataset

import training

EVERY, LONGER = 8, 0.25


class Uneven(Dataset):
    def __init__(self, healthy):
        self.healthy = healthy

    def __len__(self):
        return 10000

    def __getitem__(self, index):
        late = LONGER / EVERY if self.healthy else LONGER * (index % EVERY == EVERY - 1)
        time.sleep(0.005 + late)
        return torch.ones(64)


def build(healthy, draw):
    model, batch = training.linears(draw, 768)
    loader = iter(DataLoader(Uneven(healthy), num_workers=2, prefetch_factor=1, persistent_workers=True))

    def step(_):
        scale = next(loader).mean()
        model(batch * scale).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
