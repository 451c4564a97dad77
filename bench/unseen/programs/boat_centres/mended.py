"""Finds boats on pictures of a harbour from above by a map of their centres."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 23
PICTURES = 280
SIZE = 128
BATCH_SIZE = 8
EPOCHS = 3


def make_pictures():
    rng = np.random.default_rng(SEED)
    pictures, boats = [], []
    for _ in range(PICTURES):
        picture = rng.normal(0.2, 0.05, size=(SIZE, SIZE)).astype(np.float32)
        found = []
        for _ in range(rng.integers(20, 41)):
            length, beam = rng.integers(5, 14), rng.integers(3, 6)
            width, height = (length, beam) if rng.random() < 0.5 else (beam, length)
            left = rng.integers(0, SIZE - width)
            top = rng.integers(0, SIZE - height)
            picture[top:top + height, left:left + width] = rng.uniform(0.5, 1.0)
            found.append((left + (width - 1) / 2, top + (height - 1) / 2, width, height))
        pictures.append(picture)
        boats.append(np.array(found))
    return pictures, boats


class HarbourDataset(Dataset):
    def __init__(self, pictures, boats):
        self.pictures = pictures
        self.boats = boats
        self.rng = np.random.default_rng(SEED)
        self.axis = np.arange(SIZE)

    def __len__(self):
        return len(self.pictures)

    def centre_map(self, boats):
        centres = np.zeros((SIZE, SIZE))
        for x, y, width, height in boats:
            spread = max(1.0, (width + height) / 12)
            reach = int(np.ceil(9 * spread))
            left, right = max(0, round(x) - reach), round(x) + reach + 1
            top, bottom = max(0, round(y) - reach), round(y) + reach + 1
            across = np.exp(-((self.axis[left:right] - round(x)) ** 2) / (2 * spread ** 2))
            down = np.exp(-((self.axis[top:bottom] - round(y)) ** 2) / (2 * spread ** 2))
            patch = centres[top:bottom, left:right]
            np.maximum(patch, down[:, None] * across, out=patch)
        return centres

    def __getitem__(self, index):
        picture = self.pictures[index]
        boats = self.boats[index].copy()
        if self.rng.random() < 0.5:
            picture = picture[:, ::-1]
            boats[:, 0] = SIZE - 1 - boats[:, 0]
        if self.rng.random() < 0.5:
            picture = picture[::-1]
            boats[:, 1] = SIZE - 1 - boats[:, 1]
        picture = picture + self.rng.normal(0, 0.02)
        centres = self.centre_map(boats)
        return (
            torch.from_numpy(np.ascontiguousarray(picture, dtype=np.float32)).unsqueeze(0),
            torch.from_numpy(centres.astype(np.float32)).unsqueeze(0),
        )


class CentreNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fine = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        )
        self.coarse = nn.Sequential(
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 16, 3, padding=1), nn.ReLU(),
        )
        self.head = nn.Conv2d(32, 1, 3, padding=1)
        nn.init.constant_(self.head.bias, -3.0)

    def forward(self, pictures):
        fine = self.fine(pictures)
        coarse = F.interpolate(self.coarse(fine), scale_factor=2.0)
        return self.head(torch.cat([fine, coarse], dim=1))


def focal_loss(logits, centres):
    chance = torch.sigmoid(logits).clamp(1e-4, 1 - 1e-4)
    peak = (centres > 0.999).float()
    hit = peak * (1 - chance) ** 2 * torch.log(chance)
    miss = (1 - peak) * (1 - centres) ** 4 * chance ** 2 * torch.log(1 - chance)
    return -(hit + miss).sum() / peak.sum()


def main():
    torch.manual_seed(SEED)
    loader = DataLoader(HarbourDataset(*make_pictures()), batch_size=BATCH_SIZE, shuffle=True)
    model = CentreNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for pictures, centres in loader:
            loss = focal_loss(model(pictures), centres)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
        print(f"epoch {epoch}: loss {statistics.mean(losses[-len(loader):]):.4f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-20:]):.6f}")


if __name__ == "__main__":
    main()
