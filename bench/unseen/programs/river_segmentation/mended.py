"""Outlines rivers, fields and forest in aerial images; part of the pixels were never labelled."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 31
IMAGES = 96
SIDE = 128
CLASSES = ["river", "field", "forest", "road", "village", "bare"]
UNLABELLED = 255
WIDTH = 16
BATCH_SIZE = 8
EPOCHS = 5
LEARNING_RATE = 2e-3


def make_images():
    """Landscape as the nearest of a few random places; stripes and corners are left unlabelled."""
    rng = np.random.default_rng(SEED)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    colours = rng.uniform(-1, 1, size=(len(CLASSES), 3))
    images = np.empty((IMAGES, 3, SIDE, SIDE), dtype=np.float32)
    labels = np.empty((IMAGES, SIDE, SIDE), dtype=np.int64)
    for number in range(IMAGES):
        places = rng.uniform(0, SIDE, size=(14, 2))
        kinds = rng.integers(0, len(CLASSES), size=14)
        distance = (rows[..., None] - places[:, 0]) ** 2 + (columns[..., None] - places[:, 1]) ** 2
        label = kinds[distance.argmin(axis=2)]
        shade = colours[label] + rng.normal(scale=0.4, size=(SIDE, SIDE, 3))
        images[number] = shade.transpose(2, 0, 1)
        edge = rng.integers(4, 20)
        label = np.where((rows + columns < 3 * edge) | (rows > SIDE - edge), UNLABELLED, label)
        labels[number] = label
    return torch.from_numpy(images), torch.from_numpy(labels)


def double_conv(entering, leaving):
    return nn.Sequential(
        nn.Conv2d(entering, leaving, 3, padding=1, bias=False),
        nn.BatchNorm2d(leaving),
        nn.ReLU(),
        nn.Conv2d(leaving, leaving, 3, padding=1, bias=False),
        nn.BatchNorm2d(leaving),
        nn.ReLU(),
    )


class LandNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Conv2d(3, WIDTH, 3, stride=2, padding=1)
        self.down1 = double_conv(WIDTH, WIDTH)
        self.down2 = double_conv(WIDTH, 2 * WIDTH)
        self.middle = double_conv(2 * WIDTH, 2 * WIDTH)
        self.up = double_conv(4 * WIDTH, WIDTH)
        self.head = nn.Conv2d(2 * WIDTH, len(CLASSES), 1)

    def forward(self, images):
        fine = self.down1(self.enter(images))
        coarse = self.down2(F.max_pool2d(fine, 2))
        deepest = self.middle(F.max_pool2d(coarse, 2))
        x = self.up(torch.cat([F.interpolate(deepest, scale_factor=2), coarse], dim=1))
        x = self.head(torch.cat([F.interpolate(x, scale_factor=2), fine], dim=1))
        return F.interpolate(x, scale_factor=2, mode="bilinear")


def land_loss(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=UNLABELLED)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    images, labels = make_images()
    loader = DataLoader(TensorDataset(images, labels), batch_size=BATCH_SIZE, shuffle=True)
    model = LandNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    for epoch in range(EPOCHS):
        started = time.perf_counter()
        for batch, truth in loader:
            loss = land_loss(model(batch), truth)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - started)
            started = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
