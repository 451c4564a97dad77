"""Maps canals, fields and roofs on aerial photos with a small segmentation network."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 77
PHOTOS = 160
SIZE = 192
CLASSES = 7
BATCH_SIZE = 4
CHANNELS = 32
HEAD_CHANNELS = 64
STEPS = 75
LEARNING_RATE = 2e-3


def make_photos():
    rng = np.random.default_rng(SEED)
    colours = rng.uniform(0.1, 0.9, size=(CLASSES, 3)).astype(np.float32)
    masks = np.zeros((PHOTOS, SIZE, SIZE), dtype=np.int64)
    for mask in masks:
        for _ in range(14):
            top, left = rng.integers(0, SIZE - 24, size=2)
            height, width = rng.integers(16, 80, size=2)
            mask[top:top + height, left:left + width] = rng.integers(CLASSES)
    photos = colours[masks] + rng.normal(0, 0.15, size=(*masks.shape, 3)).astype(np.float32)
    return torch.from_numpy(photos).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(masks)


class ConvUnit(nn.Sequential):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        )


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fine = nn.Sequential(
            ConvUnit(3, CHANNELS, stride=2), ConvUnit(CHANNELS, 2 * CHANNELS, stride=2),
            ConvUnit(2 * CHANNELS, 2 * CHANNELS), ConvUnit(2 * CHANNELS, 2 * CHANNELS),
        )
        self.coarse = nn.Sequential(
            ConvUnit(2 * CHANNELS, 4 * CHANNELS, stride=2),
            ConvUnit(4 * CHANNELS, 4 * CHANNELS), ConvUnit(4 * CHANNELS, 4 * CHANNELS),
        )

    def forward(self, photos):
        fine = self.fine(photos)
        return fine, self.coarse(fine)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.narrow = nn.Conv2d(4 * CHANNELS, 2 * CHANNELS, 1)
        self.join = ConvUnit(4 * CHANNELS, HEAD_CHANNELS)
        self.classify = nn.Conv2d(HEAD_CHANNELS, CLASSES, 1)

    def forward(self, fine, coarse, size):
        coarse = F.interpolate(self.narrow(coarse), size=fine.shape[2:], mode="bilinear")
        x = self.join(torch.cat([fine, coarse], dim=1))
        return F.interpolate(self.classify(x), size=size, mode="bilinear")


class CanalModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = Head()

    def forward(self, photos):
        fine, coarse = self.encoder(photos)
        return self.head(fine, coarse, photos.shape[2:])


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True)

    def step(self, photos, masks):
        loss = F.cross_entropy(self.model(photos), masks)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    photos, masks = make_photos()
    trainer = Trainer(CanalModel())

    step_times = []
    losses = []
    last = time.perf_counter()
    for step in range(STEPS):
        rows = torch.randint(PHOTOS, (BATCH_SIZE,))
        losses.append(trainer.step(photos[rows], masks[rows]))
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
