"""Tells healthy from sick leaves on photos, with a quick training round after every new lot of photos."""
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, RandomSampler

SEED = 19
PHOTOS = 64
SIZE = 48
BATCH_SIZE = 8
ROUNDS = 50
WORKERS = 2
LEARNING_RATE = 1e-3


def make_photos(folder):
    """Write small PNG photos of leaves; sick leaves have brown spots."""
    rng = np.random.default_rng(SEED)
    rows, columns = np.mgrid[:SIZE, :SIZE]
    for number in range(PHOTOS):
        sick = number % 2
        pixels = rng.integers(0, 60, size=(SIZE, SIZE, 3))
        pixels[..., 1] += 110
        spots = 6 if sick else 1
        for _ in range(spots):
            y, x = rng.integers(4, SIZE - 4, size=2)
            spot = (rows - y) ** 2 + (columns - x) ** 2 < rng.integers(4, 14)
            pixels[spot] = (120, 80, 30)
        name = f"{'sick' if sick else 'healthy'}_{number:03d}.png"
        Image.fromarray(pixels.astype(np.uint8)).save(Path(folder) / name)


class LeafDataset(Dataset):
    def __init__(self, folder):
        self.paths = sorted(Path(folder).glob("*.png"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        with Image.open(path) as photo:
            pixels = np.array(photo.convert("RGB"))
        image = torch.from_numpy(pixels).permute(2, 0, 1).float() / 255
        return image, int(path.name.startswith("sick"))


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1, stride=2)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1, stride=2)
        self.conv3 = nn.Conv2d(32, 64, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.norm2 = nn.BatchNorm2d(32)
        self.norm3 = nn.BatchNorm2d(64)
        self.head = nn.Linear(64, 2)

    def forward(self, images):
        x = F.relu(self.norm1(self.conv1(images)))
        x = F.relu(self.norm2(self.conv2(x)))
        x = F.relu(self.norm3(self.conv3(x)))
        return self.head(x.mean(dim=(2, 3)))


def train_round(model, optimizer, loader):
    """One pass over the photos; returns the mean loss."""
    total = 0.0
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    with tempfile.TemporaryDirectory() as folder:
        make_photos(folder)
        photos = LeafDataset(folder)
        loader = DataLoader(
            photos,
            batch_size=BATCH_SIZE,
            sampler=RandomSampler(photos, generator=torch.Generator().manual_seed(SEED)),
            num_workers=WORKERS,
            persistent_workers=True,
        )
        model = LeafNet()
        optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

        step_times = []
        losses = []
        for number in range(1, ROUNDS + 1):
            started = time.perf_counter()
            losses.append(train_round(model, optimizer, loader))
            step_times.append(time.perf_counter() - started)
            if number % 20 == 0:
                print(f"round {number}: loss {losses[-1]:.4f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
