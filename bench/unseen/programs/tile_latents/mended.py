"""Trains a small latent diffusion model on pictures of painted tiles."""
import math
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

SEED = 11
TILES = 384
SIZE = 64
LATENT = 4
BATCH_SIZE = 32
EPOCHS = 7
TIMESTEPS = 500
WARMUP_STEPS = 12


def paint_tiles(count):
    generator = torch.Generator().manual_seed(SEED)
    axis = torch.linspace(-1, 1, SIZE)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    radius = (x ** 2 + y ** 2).sqrt()
    angle = torch.atan2(y, x)
    petals = torch.randint(3, 9, (count, 1, 1), generator=generator)
    turns = 2 * math.pi * torch.rand(count, 1, 1, generator=generator)
    reach = 0.3 + 0.4 * torch.rand(count, 1, 1, generator=generator)
    shape = torch.sigmoid(12 * (reach * (1 + 0.4 * torch.cos(petals * angle + turns)) - radius))
    inner, outer = 2 * torch.rand(2, count, 3, 1, 1, generator=generator) - 1
    return outer + (inner - outer) * shape.unsqueeze(1)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.SiLU(),
            nn.Conv2d(24, 24, 3, padding=1), nn.SiLU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.SiLU(),
            nn.Conv2d(48, 64, 3, stride=2, padding=1), nn.SiLU(),
            nn.Conv2d(64, LATENT, 1),
        )
        self.decoder = nn.Sequential(
            nn.Conv2d(LATENT, 48, 3, padding=1), nn.SiLU(),
            nn.Conv2d(48, 3 * 16, 3, padding=1), nn.PixelShuffle(4),
        )

    def encode(self, images):
        return self.encoder(images)

    def forward(self, images):
        return self.decoder(self.encode(images))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.GroupNorm(8, width)
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.time = nn.Linear(64, width)

    def forward(self, x, moment):
        hidden = self.first(F.silu(self.norm(x))) + self.time(moment)[:, :, None, None]
        return x + self.second(F.silu(hidden))


class Denoiser(nn.Module):
    def __init__(self, width=64, depth=3):
        super().__init__()
        self.enter = nn.Conv2d(LATENT, width, 3, padding=1)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.leave = nn.Conv2d(width, LATENT, 3, padding=1)
        self.register_buffer("frequencies", torch.exp(-math.log(1e4) * torch.arange(32) / 32))

    def forward(self, latents, t):
        phase = t[:, None] * self.frequencies
        moment = torch.cat([phase.sin(), phase.cos()], dim=1)
        x = self.enter(latents)
        for block in self.blocks:
            x = block(x, moment)
        return self.leave(x)


def train_autoencoder(images):
    autoencoder = AutoEncoder()
    optimizer = torch.optim.Adam(autoencoder.parameters(), lr=2e-3)
    for _ in range(WARMUP_STEPS):
        batch = images[torch.randint(0, len(images), (8,))]
        loss = F.mse_loss(autoencoder(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return autoencoder.eval().requires_grad_(False)


def main():
    torch.manual_seed(SEED)
    images = paint_tiles(TILES)
    autoencoder = train_autoencoder(images)
    with torch.no_grad():
        codes = torch.cat([autoencoder.encode(part) for part in images.split(128)])
        codes = codes / codes[:128].std()
    kept = torch.cumprod(1 - torch.linspace(1e-4, 0.03, TIMESTEPS), dim=0)

    denoiser = Denoiser()
    optimizer = torch.optim.AdamW(denoiser.parameters(), lr=1e-3)
    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for rows in torch.randperm(TILES).split(BATCH_SIZE):
            latents = codes[rows]
            t = torch.randint(0, TIMESTEPS, (len(rows),))
            share = kept[t].view(-1, 1, 1, 1)
            noise = torch.randn_like(latents)
            noisy = share.sqrt() * latents + (1 - share).sqrt() * noise
            loss = F.mse_loss(denoiser(noisy, t), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
        print(f"epoch {epoch}: loss {statistics.mean(losses[-12:]):.4f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-12:]):.6f}")


if __name__ == "__main__":
    main()
