"""Autoencoder for photos of woven cloth, trained with structural similarity (SSIM)."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 23
PATCHES = 480
SIZE = 80
BATCH_SIZE = 12
EPOCHS = 1
WINDOW = 11
SIGMA = 1.5
WIDTH = 16
CODE = 16
SSIM_SHARE = 0.8
LEARNING_RATE = 1e-3


def make_patches():
    """Grey patches with warp and weft threads of different widths and angles, between 0 and 1."""
    rng = np.random.default_rng(SEED)
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    patches = np.zeros((PATCHES, 1, SIZE, SIZE), dtype=np.float32)
    for number in range(PATCHES):
        angle = rng.normal(scale=0.15)
        across = x * np.cos(angle) + y * np.sin(angle)
        along = y * np.cos(angle) - x * np.sin(angle)
        warp = np.sin(2 * np.pi * across / rng.uniform(5, 14) + rng.uniform(0, 6))
        weft = np.sin(2 * np.pi * along / rng.uniform(5, 14) + rng.uniform(0, 6))
        cloth = np.where((across // 8 + along // 8) % 2 == 0, warp, weft)
        light = rng.uniform(-0.3, 0.3) * (x / SIZE - 0.5)
        patch = 0.5 + 0.25 * cloth + light + rng.normal(scale=0.03, size=(SIZE, SIZE))
        patches[number, 0] = np.clip(patch, 0, 1)
    return torch.from_numpy(patches)


def gaussian(length, sigma):
    offsets = torch.arange(length) - length // 2
    weights = torch.exp(-offsets ** 2 / (2 * sigma ** 2))
    return weights / weights.sum()


class SSIM(nn.Module):
    """Structural similarity of two grey images, averaged over all places of the window."""

    def __init__(self):
        super().__init__()
        weights = gaussian(WINDOW, SIGMA)
        self.register_buffer("window", torch.outer(weights, weights)[None, None])
        self.c1 = 0.01 ** 2
        self.c2 = 0.03 ** 2

    def blur(self, image):
        return F.conv2d(image, self.window)

    def forward(self, first, second):
        mean1 = self.blur(first)
        mean2 = self.blur(second)
        variance1 = self.blur(first * first) - mean1 ** 2
        variance2 = self.blur(second * second) - mean2 ** 2
        covariance = self.blur(first * second) - mean1 * mean2
        light = (2 * mean1 * mean2 + self.c1) / (mean1 ** 2 + mean2 ** 2 + self.c1)
        structure = (2 * covariance + self.c2) / (variance1 + variance2 + self.c2)
        return (light * structure).mean()


class ClothAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, WIDTH, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv2d(WIDTH, 2 * WIDTH, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(2 * WIDTH, 2 * WIDTH, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(2 * WIDTH, CODE, 1),
        )
        self.decoder = nn.Sequential(
            nn.Conv2d(CODE, 2 * WIDTH, 3, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(2 * WIDTH, WIDTH, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(WIDTH, 1, 4, stride=2, padding=1),
        )

    def forward(self, images):
        return torch.sigmoid(self.decoder(self.encoder(images)))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    patches = make_patches()
    model = ClothAutoencoder()
    ssim = SSIM()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    for epoch in range(EPOCHS):
        order = torch.randperm(PATCHES)
        for chosen in order.split(BATCH_SIZE):
            began = time.perf_counter()
            images = patches[chosen]
            rebuilt = model(images)
            loss = SSIM_SHARE * (1 - ssim(rebuilt, images)) + (1 - SSIM_SHARE) * F.l1_loss(rebuilt, images)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            step_times.append(time.perf_counter() - began)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
