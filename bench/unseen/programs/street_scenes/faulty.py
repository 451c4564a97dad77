"""Segments street scenes into the classes of a road survey."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 31
SCENES = 160
SIZE = 96
CLASSES = 20
BATCH_SIZE = 8
EPOCHS = 2
WIDTH = 8
LEARNING_RATE = 2e-3


def make_scenes():
    """Scenes of overlapping rectangles, each with the colour of its class and some noise."""
    rng = np.random.default_rng(SEED)
    colours = rng.uniform(0, 1, size=(CLASSES, 3))
    images = np.zeros((SCENES, 3, SIZE, SIZE), dtype=np.float32)
    maps = np.zeros((SCENES, SIZE, SIZE), dtype=np.int64)
    for number in range(SCENES):
        for _ in range(14):
            top, left = rng.integers(0, SIZE - 16, size=2)
            height, width = rng.integers(12, 48, size=2)
            maps[number, top:top + height, left:left + width] = rng.integers(CLASSES)
        clean = colours[maps[number]].transpose(2, 0, 1)
        images[number] = clean + rng.normal(scale=0.15, size=clean.shape)
    return torch.from_numpy(images), torch.from_numpy(maps)


class ConvBlock(nn.Sequential):
    def __init__(self, inputs, outputs):
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        )


class StreetNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = ConvBlock(3, WIDTH)
        self.down2 = ConvBlock(WIDTH, 2 * WIDTH)
        self.bottom = ConvBlock(2 * WIDTH, 4 * WIDTH)
        self.up2 = ConvBlock(6 * WIDTH, 2 * WIDTH)
        self.up1 = ConvBlock(3 * WIDTH, WIDTH)
        self.head = nn.Conv2d(WIDTH, CLASSES, 1)

    def forward(self, images):
        fine = self.down1(images)
        middle = self.down2(F.max_pool2d(fine, 2))
        coarse = self.bottom(F.max_pool2d(middle, 2))
        middle = self.up2(torch.cat([middle, F.interpolate(coarse, scale_factor=2)], dim=1))
        fine = self.up1(torch.cat([fine, F.interpolate(middle, scale_factor=2)], dim=1))
        return self.head(fine)


class SegmentationScore:
    """Counts of predicted and true classes, and the mean intersection over union from them."""

    def __init__(self):
        self.counts = torch.zeros(CLASSES, CLASSES, dtype=torch.int64)

    def update(self, predicted, truth):
        for actual in range(CLASSES):
            for guess in range(CLASSES):
                hits = (truth == actual) & (predicted == guess)
                self.counts[actual, guess] += hits.sum()

    def mean_iou(self):
        shared = self.counts.diagonal().double()
        union = self.counts.sum(dim=0) + self.counts.sum(dim=1) - shared
        return (shared / union.clamp(min=1)).mean().item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    images, maps = make_scenes()
    loader = DataLoader(TensorDataset(images, maps), batch_size=BATCH_SIZE, shuffle=True)
    model = StreetNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    for epoch in range(EPOCHS):
        score = SegmentationScore()
        total = 0.0
        began = time.perf_counter()
        for batch, truth in loader:
            logits = model(batch)
            loss = F.cross_entropy(logits, truth)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            score.update(logits.argmax(dim=1), truth)
            now = time.perf_counter()
            step_times.append(now - began)
            began = now
        print(f"epoch {epoch}: loss {total / len(loader):.3f}, IoU {score.mean_iou():.3f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={score.mean_iou():.6f}")


if __name__ == "__main__":
    main()
