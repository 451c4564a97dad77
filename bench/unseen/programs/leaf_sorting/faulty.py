"""Learns to tell the species of a plant from scans of its leaves, kept as JPEG files in one folder."""
import os
import statistics
import tempfile
import time

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 61
SPECIES = 12
SCANS = 2560
SIZE = 64
BATCH_SIZE = 32
EPOCHS = 2
LEARNING_RATE = 1e-3


def draw_leaf(rng, species, y, x):
    """A leaf on white paper: the species gives its form, its lobes and its green."""
    angle = rng.uniform(0, 2 * np.pi)
    distance = np.hypot(y, x)
    direction = np.arctan2(y, x) + angle
    lobes = 2 + species % 4
    reach = 0.5 + 0.12 * np.cos(lobes * direction) * (1 + species // 4) + rng.normal(0, 0.03)
    inside = (distance < reach)[:, :, None]
    green = np.array([60 + 8 * (species // 4), 120 + 10 * (species % 3), 50]) + rng.normal(0, 8, 3)
    veins = 25 * np.cos(12 * direction + species)[:, :, None]
    pixels = np.where(inside, green + veins, 240) + rng.normal(0, 6, (SIZE, SIZE, 3))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def make_scans(folder):
    rng = np.random.default_rng(SEED)
    y, x = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j]
    for number in range(SCANS):
        species = int(rng.integers(SPECIES))
        leaf = draw_leaf(rng, species, y, x)
        leaf.save(os.path.join(folder, f"scan{number:05d}_species{species:02d}.jpg"), quality=90)


class LeafDataset(Dataset):
    """The scans of a folder; the species is part of the file's name."""

    def __init__(self, folder, train=True):
        self.folder = folder
        self.train = train
        self.mean = torch.tensor([0.68, 0.75, 0.67]).view(3, 1, 1)
        self.std = torch.tensor([0.32, 0.23, 0.34]).view(3, 1, 1)

    def __len__(self):
        return len(os.listdir(self.folder))

    def __getitem__(self, index):
        name = sorted(os.listdir(self.folder))[index]
        species = int(name[:-len(".jpg")].split("species")[1])
        image = Image.open(os.path.join(self.folder, name)).convert("RGB")
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).float().div_(255)
        if self.train and torch.rand(()) < 0.5:
            pixels = pixels.flip(2)
        return (pixels - self.mean) / self.std, species


def conv_block(inputs, outputs, stride):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            conv_block(3, 16, 2), conv_block(16, 24, 1), conv_block(24, 48, 2), conv_block(48, 96, 2)
        )
        self.classifier = nn.Linear(96, SPECIES)

    def forward(self, pixels):
        return self.classifier(self.features(pixels).mean(dim=(2, 3)))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    with tempfile.TemporaryDirectory() as folder:
        make_scans(folder)
        loader = DataLoader(LeafDataset(folder), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
        model = LeafNet()
        optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

        step_times = []
        losses = []
        last = time.perf_counter()
        for epoch in range(EPOCHS):
            for pixels, species in loader:
                loss = F.cross_entropy(model(pixels), species)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                now = time.perf_counter()
                step_times.append(now - last)
                last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-20:]):.6f}")


if __name__ == "__main__":
    main()
