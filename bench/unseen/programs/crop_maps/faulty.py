"""Two processes learn together to map the crops of fields from small satellite images."""
import os
import statistics
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

SEED = 67
WORLD = 2
CROPS = 24
BANDS = 6
SIZE = 64
IMAGES = 480
BATCH_SIZE = 16
EPOCHS = 8
LEARNING_RATE = 2e-3


def make_fields():
    """Every field is the area nearest to its centre and has one crop with its own spectrum."""
    rng = np.random.default_rng(SEED)
    spectra = rng.uniform(0.1, 0.9, size=(CROPS, BANDS)).astype(np.float32)
    y, x = np.mgrid[:SIZE, :SIZE]
    images = np.empty((IMAGES, BANDS, SIZE, SIZE), dtype=np.float32)
    crops = np.empty((IMAGES, SIZE, SIZE), dtype=np.int64)
    for image in range(IMAGES):
        centres = rng.uniform(0, SIZE, size=(20, 2, 1, 1))
        field = ((y - centres[:, 0]) ** 2 + (x - centres[:, 1]) ** 2).argmin(axis=0)
        crops[image] = rng.integers(CROPS, size=20)[field]
        haze = rng.normal(0, 0.25, (SIZE, SIZE, BANDS))
        images[image] = (spectra[crops[image]] + haze).transpose(2, 0, 1)
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(crops))


class FieldNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(BANDS, width, 4, stride=2, padding=1), nn.ReLU())
        self.around = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * width, CROPS, 2, stride=2)

    def forward(self, images):
        coarse = self.down(images)
        return self.up(torch.cat([coarse, self.around(coarse)], dim=1))


class CropScore:
    """Share of the pixels of each crop that are mapped rightly, over the images of all processes."""

    def __init__(self):
        self.right = torch.zeros(CROPS)
        self.total = torch.zeros(CROPS)

    @torch.no_grad()
    def update(self, logits, crops):
        gathered = [None] * dist.get_world_size()
        dist.all_gather_object(gathered, (logits.detach(), crops))
        for logits, crops in gathered:
            hit = logits.argmax(dim=1) == crops
            self.right += torch.bincount(crops[hit], minlength=CROPS)
            self.total += torch.bincount(crops.flatten(), minlength=CROPS)

    def mean(self):
        return (self.right / self.total).mean().item()


def train(rank, folder):
    torch.set_num_threads(1)
    store = dist.FileStore(os.path.join(folder, "store"), WORLD)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=WORLD)
    torch.manual_seed(SEED)
    fields = make_fields()
    sampler = DistributedSampler(fields, WORLD, rank, seed=SEED)
    loader = DataLoader(fields, batch_size=BATCH_SIZE, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(FieldNet())
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        score = CropScore()
        for images, crops in loader:
            logits = model(images)
            loss = F.cross_entropy(logits, crops)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            score.update(logits, crops)
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    if rank == 0:
        print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
        print(f"result={score.mean():.6f}")
    dist.destroy_process_group()


def main():
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(folder,), nprocs=WORLD)


if __name__ == "__main__":
    main()
