"""Train a small denoising diffusion model on 16x16 images of soft blobs."""

import itertools
import math
import operator
import statistics
import time

import torch
from torch import nn

TIMESTEPS = 4000
SIDE = 16
PIXELS = SIDE * SIDE
EMBEDDING = 64
HIDDEN = 768
BATCH = 384
IMAGES = 4096
STEPS = 70
MAX_SNR = 5.0


def make_images():
    """Each image is one Gaussian blob, scaled to [-1, 1]."""
    axis = torch.linspace(-1.0, 1.0, SIDE)
    centre = torch.rand(IMAGES, 2) - 0.5
    width = 0.2 + 0.3 * torch.rand(IMAGES, 1)
    column = torch.exp(-(((axis - centre[:, :1]) / width) ** 2))
    row = torch.exp(-(((axis - centre[:, 1:]) / width) ** 2))
    blobs = row.unsqueeze(2) * column.unsqueeze(1)
    return blobs.reshape(IMAGES, PIXELS) * 2.0 - 1.0


def signal_level(fraction):
    return math.cos((fraction + 0.008) / 1.008 * math.pi / 2) ** 2


def noise_schedule(steps):
    """Cosine schedule with min-SNR loss weights: signal, noise, weight per timestep."""
    betas = [
        min(1.0 - signal_level((i + 1) / steps) / signal_level(i / steps), 0.999)
        for i in range(steps)
    ]
    alphas = [1.0 - beta for beta in betas]
    alpha_bars = list(itertools.accumulate(alphas, operator.mul))
    signal = [math.sqrt(a) for a in alpha_bars]
    noise = [math.sqrt(1.0 - a) for a in alpha_bars]
    ratio = [a / (1.0 - a) for a in alpha_bars]
    weight = [min(r, MAX_SNR) / r for r in ratio]
    return torch.tensor(signal), torch.tensor(noise), torch.tensor(weight)


def diffuse(images, t, epsilon, schedule):
    """Noisy images at the timesteps t, and the loss weight of each."""
    signal, noise, weight = schedule
    signal_t = signal[t].unsqueeze(1)
    noise_t = noise[t].unsqueeze(1)
    weight_t = weight[t]
    return signal_t * images + noise_t * epsilon, weight_t


def time_embedding(t):
    half = EMBEDDING // 2
    exponent = torch.arange(half, dtype=torch.float32) / half
    angles = t.unsqueeze(1).float() * torch.exp(-math.log(10000.0) * exponent)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(PIXELS + EMBEDDING, HIDDEN),
            nn.SiLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.SiLU(),
            nn.Linear(HIDDEN, PIXELS),
        )

    def forward(self, noisy, t):
        return self.net(torch.cat([noisy, time_embedding(t)], dim=1))


def main():
    torch.manual_seed(5)
    dataset = make_images()
    schedule = noise_schedule(TIMESTEPS)
    model = Denoiser()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

    times = []
    for step in range(STEPS):
        start = time.perf_counter()
        images = dataset[torch.randint(0, IMAGES, (BATCH,))]
        t = torch.randint(0, TIMESTEPS, (BATCH,))
        epsilon = torch.randn_like(images)
        noisy, weight = diffuse(images, t, epsilon, schedule)

        error = (model(noisy, t) - epsilon).square().mean(dim=1)
        loss = (weight * error).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        final_loss = loss.item()
        times.append(time.perf_counter() - start)

    print(f"step_ms={statistics.median(times[5:]) * 1000:.2f}")
    print(f"result={final_loss:.6f}")


if __name__ == "__main__":
    main()
