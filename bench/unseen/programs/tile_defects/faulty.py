"""Trains a network that finds defects of ceramic tiles, and evaluates it after every few batches."""
import copy
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 888
TILES = 1600
VALID_TILES = 96
SIZE = 48
DEFECTS = 5
BATCH_SIZE = 16
BATCHES_PER_ROUND = 4
LEARNING_RATE = 1e-3
TRAIN_SECONDS = 11.5
REPORTED_ROUNDS = 8


def photograph_tiles():
    rng = np.random.default_rng(SEED)
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    defects = rng.integers(DEFECTS, size=TILES)
    tiles = np.empty((TILES, SIZE, SIZE), dtype=np.float32)
    for tile, defect in zip(tiles, defects):
        tile[:] = 0.6 + 0.1 * np.sin(x * rng.uniform(0.2, 0.6)) + rng.normal(0, 0.05, size=(SIZE, SIZE))
        centre = rng.uniform(10, SIZE - 10, size=2)
        if defect == 1:
            tile[np.abs(y - centre[0] - rng.uniform(-1, 1) * (x - centre[1])) < 1] -= 0.4
        elif defect == 2:
            tile[np.hypot(y - centre[0], x - centre[1]) < rng.uniform(3, 6)] -= 0.35
        elif defect == 3:
            tile[y + x < rng.uniform(10, 22)] = 0.1
        elif defect == 4:
            tile += 0.25 * np.exp(-((y - centre[0]) ** 2 + (x - centre[1]) ** 2) / 120)
    return (tiles * 255).clip(0, 255).astype(np.uint8), defects


class TileSet(Dataset):
    def __init__(self, tiles, defects, augment=False):
        self.tiles = tiles
        self.defects = defects
        self.augment = augment

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, index):
        tile = torch.from_numpy(self.tiles[index]).float().div(255).unsqueeze(0)
        if self.augment and torch.rand(1).item() < 0.5:
            tile = tile.flip(2)
        return (tile - 0.6) / 0.2, int(self.defects[index])


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(y)) + self.shortcut(x))


class TileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 5, stride=2, padding=2, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.body = nn.Sequential(
            Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 32, 1), Residual(32, 64, 2), Residual(64, 64, 1),
        )
        self.head = nn.Linear(64, DEFECTS)

    def forward(self, tiles):
        return self.head(self.body(self.stem(tiles)).mean(dim=(2, 3)))


def evaluate(model, loader):
    model.eval()
    loss, right, seen = 0.0, 0, 0
    with torch.no_grad():
        for tiles, defects in loader:
            logits = model(tiles)
            loss += F.cross_entropy(logits, defects, reduction="sum").item()
            right += (logits.argmax(1) == defects).sum().item()
            seen += len(defects)
    model.train()
    return loss / seen, right / seen


def endless(loader):
    while True:
        yield from loader


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    tiles, defects = photograph_tiles()
    train_set = TileSet(tiles[:-VALID_TILES], defects[:-VALID_TILES], augment=True)
    valid_set = TileSet(tiles[-VALID_TILES:], defects[-VALID_TILES:])
    train_loader = DataLoader(train_set, batch_size=BATCH_SIZE, shuffle=True)
    valid_loader = DataLoader(valid_set)
    model = TileNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

    step_times, losses = [], []
    best, best_accuracy = None, -1.0
    batches = endless(train_loader)
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        for _ in range(BATCHES_PER_ROUND):
            images, labels = next(batches)
            optimizer.zero_grad()
            F.cross_entropy(model(images), labels).backward()
            optimizer.step()
        loss, accuracy = evaluate(model, valid_loader)
        if accuracy > best_accuracy:
            best, best_accuracy = copy.deepcopy(model.state_dict()), accuracy
        losses.append(loss)
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"{len(losses)} rounds, best accuracy {best_accuracy:.3f}, {len(best)} tensors kept")
    print(f"step_ms={statistics.median(step_times[2:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_ROUNDS]):.4f}")


if __name__ == "__main__":
    main()
