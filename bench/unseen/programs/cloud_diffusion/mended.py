"""Learns to draw satellite cloud patches with a small diffusion model."""
import math
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 17
PATCHES = 768
SIDE = 32
TIMESTEPS = 500
WIDTH = 24
BATCH_SIZE = 16
STEPS = 60
LEARNING_RATE = 1e-3


def make_patches():
    """Clouds as smooth noise: random waves whose strength falls with their frequency."""
    rng = np.random.default_rng(SEED)
    frequency = np.hypot(np.fft.fftfreq(SIDE)[:, None], np.fft.rfftfreq(SIDE)[None])
    strength = 1 / (frequency + 0.03) ** 1.6
    waves = rng.normal(size=(PATCHES, *strength.shape)) + 1j * rng.normal(size=(PATCHES, *strength.shape))
    patches = np.fft.irfft2(waves * strength, s=(SIDE, SIDE))
    patches /= patches.std(axis=(1, 2), keepdims=True)
    return torch.from_numpy(np.tanh(patches).astype(np.float32)).unsqueeze(1)


class TimeEmbedding(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("rates", torch.exp(-math.log(1e4) * torch.arange(width // 2) / (width // 2)))
        self.project = nn.Sequential(nn.Linear(width, width), nn.SiLU())

    def forward(self, t):
        angles = t.unsqueeze(1) * self.rates
        return self.project(torch.cat([angles.sin(), angles.cos()], dim=1))


class ResidualBlock(nn.Module):
    def __init__(self, entering, leaving, time_width):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(4, entering), nn.SiLU(), nn.Conv2d(entering, leaving, 3, padding=1))
        self.shift = nn.Linear(time_width, leaving)
        self.second = nn.Sequential(nn.GroupNorm(4, leaving), nn.SiLU(), nn.Conv2d(leaving, leaving, 3, padding=1))
        self.skip = nn.Conv2d(entering, leaving, 1) if entering != leaving else nn.Identity()

    def forward(self, x, moment):
        y = self.first(x) + self.shift(moment)[:, :, None, None]
        return self.second(y) + self.skip(x)


class CloudUNet(nn.Module):
    def __init__(self):
        super().__init__()
        time_width = 4 * WIDTH
        self.time = TimeEmbedding(time_width)
        self.enter = nn.Conv2d(1, WIDTH, 3, padding=1)
        self.down1 = ResidualBlock(WIDTH, WIDTH, time_width)
        self.down2 = ResidualBlock(WIDTH, 2 * WIDTH, time_width)
        self.middle = ResidualBlock(2 * WIDTH, 2 * WIDTH, time_width)
        self.up2 = ResidualBlock(4 * WIDTH, WIDTH, time_width)
        self.up1 = ResidualBlock(2 * WIDTH, WIDTH, time_width)
        self.leave = nn.Conv2d(WIDTH, 1, 3, padding=1)

    def forward(self, x, t):
        moment = self.time(t)
        fine = self.run(self.down1, self.enter(x), moment)
        coarse = self.run(self.down2, F.avg_pool2d(fine, 2), moment)
        deepest = self.run(self.middle, F.avg_pool2d(coarse, 2), moment)
        y = torch.cat([F.interpolate(deepest, scale_factor=2), coarse], dim=1)
        y = self.run(self.up2, y, moment)
        y = torch.cat([F.interpolate(y, scale_factor=2), fine], dim=1)
        return self.leave(self.run(self.up1, y, moment))

    def run(self, block, x, moment):
        return block(x, moment)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    patches = make_patches()
    angle = torch.linspace(0, 1, TIMESTEPS + 1)[1:] * math.pi / 2
    signal, noise_level = angle.cos(), angle.sin()
    model = CloudUNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    for step in range(STEPS):
        started = time.perf_counter()
        clean = patches[torch.randint(PATCHES, (BATCH_SIZE,))]
        t = torch.randint(TIMESTEPS, (BATCH_SIZE,))
        noise = torch.randn_like(clean)
        noisy = signal[t, None, None, None] * clean + noise_level[t, None, None, None] * noise
        loss = F.mse_loss(model(noisy, t.float()), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
