"""Trains a small denoising diffusion model on 8x8 sprites."""
import math
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

SEED = 2
SPRITES = 4000
SIDE = 8
TIMESTEPS = 200
WIDTH = 96
BLOCKS = 16
BATCH_SIZE = 64
STEPS = 70
LEARNING_RATE = 2e-4

torch.autograd.set_detect_anomaly(True)


def make_sprites():
    """Little mirrored figures with values in [-1, 1]."""
    generator = torch.Generator().manual_seed(SEED)
    left = torch.randn(SPRITES, 1, SIDE // 2, SIDE // 4, generator=generator)
    left = F.interpolate(left, size=(SIDE, SIDE // 2), mode="bilinear")
    sprites = torch.cat([left, left.flip(-1)], dim=-1)
    return torch.tanh(2 * sprites).flatten(1)


class TimeEmbedding(nn.Module):
    def __init__(self):
        super().__init__()
        rates = torch.exp(-math.log(1000.0) * torch.arange(WIDTH // 2) / (WIDTH // 2))
        self.register_buffer("rates", rates)
        self.layers = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, t):
        angles = t.unsqueeze(1) * self.rates
        return self.layers(torch.cat([angles.sin(), angles.cos()], dim=1))


class Block(nn.Module):
    """A residual block whose scale and shift depend on the time."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.modulation = nn.Linear(WIDTH, 3 * WIDTH)
        self.expand = nn.Linear(WIDTH, 2 * WIDTH)
        self.shrink = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x, moment):
        scale, shift, gate = self.modulation(F.silu(moment)).chunk(3, dim=1)
        inner = self.norm(x) * (1 + scale) + shift
        return x + torch.tanh(gate) * self.shrink(F.silu(self.expand(inner)))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = TimeEmbedding()
        self.enter = nn.Linear(SIDE * SIDE, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.norm = nn.LayerNorm(WIDTH)
        self.leave = nn.Linear(WIDTH, SIDE * SIDE)

    def forward(self, noisy, t):
        moment = self.time(t.float())
        x = self.enter(noisy)
        for block in self.blocks:
            x = block(x, moment)
        return self.leave(self.norm(x))


def cosine_schedule():
    steps = torch.linspace(0, 1, TIMESTEPS + 1)
    kept = torch.cos((steps + 0.008) / 1.008 * math.pi / 2) ** 2
    return (kept[1:] / kept[0]).clamp(1e-4, 0.9999)


def train_step(model, optimizer, scheduler, sprites, kept):
    t = torch.randint(0, TIMESTEPS, (BATCH_SIZE,))
    noise = torch.randn_like(sprites)
    signal = kept[t].unsqueeze(1)
    noisy = signal.sqrt() * sprites + (1 - signal).sqrt() * noise
    weight = (signal / (1 - signal)).clamp(max=5.0)
    loss = (weight * (model(noisy, t) - noise) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    sprites = make_sprites()
    kept = cosine_schedule()
    model = Denoiser()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)

    step_times = []
    losses = []
    for step in range(STEPS):
        started = time.perf_counter()
        batch = sprites[torch.randint(0, SPRITES, (BATCH_SIZE,))]
        losses.append(train_step(model, optimizer, scheduler, batch, kept))
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
