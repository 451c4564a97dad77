"""Loading a batch takes 20 ms in the training process; healthy: in persistent workers."""
import time

import torch
from torch.utils.data import DataLoader, Dataset

import training


class Slow(Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 10000

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.ones(64)


def build(healthy, draw):
    model, batch = training.linears(draw, 768)
    workers = {"num_workers": 4, "persistent_workers": True} if healthy else {}
    loader = iter(DataLoader(Slow(0.005 * draw.uniform(0.9, 1.1)), batch_size=4, **workers))

    def step(_):
        scale = next(loader).mean()
        model(batch * scale).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
