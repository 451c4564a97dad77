"""Tells leaf diseases apart on small photos of leaves."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 23
PHOTOS = 576
SIZE = 32
DISEASES = 6
BATCH_SIZE = 32
EPOCHS = 3
LEARNING_RATE = 0.02


def make_photos():
    """Green leaves with spots whose size, colour and number depend on the disease."""
    rng = np.random.default_rng(SEED)
    colours = rng.uniform(40, 220, size=(DISEASES, 3))
    radii = rng.uniform(1.5, 4.0, size=DISEASES)
    counts = rng.integers(2, 9, size=DISEASES)
    rows, columns = np.mgrid[:SIZE, :SIZE]
    photos = np.empty((PHOTOS, SIZE, SIZE, 3), dtype=np.uint8)
    labels = rng.integers(DISEASES, size=PHOTOS)
    for number, disease in enumerate(labels):
        photo = np.array([60, 130, 50]) + rng.normal(scale=18, size=(SIZE, SIZE, 3))
        for _ in range(counts[disease]):
            row, column = rng.uniform(0, SIZE, size=2)
            spot = (rows - row) ** 2 + (columns - column) ** 2 < radii[disease] ** 2
            photo[spot] = colours[disease] + rng.normal(scale=25, size=3)
        photos[number] = photo.clip(0, 255)
    return photos, labels


class LeafDataset(Dataset):
    def __init__(self, photos, labels):
        self.photos = torch.from_numpy(photos).permute(0, 3, 1, 2).contiguous()
        self.labels = torch.from_numpy(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        photo = self.photos[index].float() / 127.5 - 1
        if index % 2:
            photo = photo.flip(2)
        return photo, self.labels[index]


class SmoothDownsample(nn.Module):
    """Halves the size of the maps after smoothing each of them, against aliasing."""

    def __init__(self, channels):
        super().__init__()
        row = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0]) / 16
        kernel = torch.outer(row, row)
        self.register_buffer("weight", kernel.repeat(channels, 1, 1, 1))

    def forward(self, x):
        x = F.pad(x, (2, 2, 2, 2), mode="reflect")
        return F.conv2d(x, self.weight, stride=2, groups=x.shape[1])


def stage(channels_in, channels_out):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(inplace=True),
        SmoothDownsample(channels_out),
    )


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.Sequential(stage(3, 48), stage(48, 80), stage(80, 128))
        self.head = nn.Linear(128, DISEASES)

    def forward(self, photos):
        return self.head(self.stages(photos).mean(dim=(2, 3)))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    photos, labels = make_photos()
    loader = DataLoader(LeafDataset(photos, labels), batch_size=BATCH_SIZE, shuffle=True)
    model = LeafNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9, weight_decay=1e-4)

    model.train()
    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for batch, diseases in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(batch), diseases)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
