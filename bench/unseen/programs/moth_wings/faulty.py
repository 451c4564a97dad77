"""Trains a diffusion transformer that draws the wings of moths."""
import math
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 844
IMAGES = 600
SIZE = 64
PATCH = 2
TOKENS = (SIZE // PATCH) ** 2
WIDTH = 64
HEADS = 4
BLOCKS = 2
NOISE_LEVELS = 400
BATCH_SIZE = 4
LEARNING_RATE = 4e-4
TRAIN_SECONDS = 11.5
REPORTED_STEPS = 8


def draw_wings():
    rng = np.random.default_rng(SEED)
    y, x = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j].astype(np.float32)
    x = np.abs(x)
    images = np.empty((IMAGES, 1, SIZE, SIZE), dtype=np.float32)
    for image in images:
        tilt, span, spots = rng.uniform(-0.4, 0.4), rng.uniform(0.5, 0.9), rng.integers(1, 4)
        wing = (x / span) ** 2 + ((y - tilt * x) / 0.5) ** 2
        drawn = np.where(wing < 1, 0.3 + 0.3 * np.cos(rng.uniform(6, 18) * wing), -1)
        for _ in range(spots):
            centre = rng.uniform([0.2, -0.3], [span - 0.2, 0.3])
            distance = np.hypot(x - centre[0], y - centre[1])
            drawn = np.where((distance < rng.uniform(0.06, 0.15)) & (wing < 1), 1, drawn)
        image[0] = drawn
    return torch.from_numpy(images)


def noise_schedule():
    moments = torch.linspace(0, 1, NOISE_LEVELS + 1)
    kept = torch.cos((moments + 0.008) / 1.008 * math.pi / 2) ** 2
    return (kept / kept[0]).clamp(min=1e-4)[1:]


def level_embedding(levels, width=WIDTH):
    rates = torch.exp(-math.log(10000) * torch.arange(width // 2) / (width // 2))
    angles = levels.float().unsqueeze(1) * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class WingBlock(nn.Module):
    """Transformer block whose norms are shifted and scaled by the noise level."""

    def __init__(self):
        super().__init__()
        self.first_norm = nn.LayerNorm(WIDTH, elementwise_affine=False)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.second_norm = nn.LayerNorm(WIDTH, elementwise_affine=False)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.modulation = nn.Linear(WIDTH, 6 * WIDTH)

    def forward(self, x, level):
        modulation = self.modulation(F.silu(level)).unsqueeze(1)
        shift, scale, gate, mlp_shift, mlp_scale, mlp_gate = modulation.chunk(6, dim=2)
        hidden = self.first_norm(x) * (1 + scale) + shift
        attended, _ = self.attention(hidden, hidden, hidden)
        x = x + gate * attended
        hidden = self.second_norm(x) * (1 + mlp_scale) + mlp_shift
        return x + mlp_gate * self.mlp(hidden)


class WingDiffusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(1, WIDTH, PATCH, stride=PATCH)
        self.positions = nn.Parameter(torch.randn(1, TOKENS, WIDTH) * 0.02)
        self.level = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.blocks = nn.ModuleList([WingBlock() for _ in range(BLOCKS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, PATCH * PATCH)

    def forward(self, images, levels):
        x = self.patches(images).flatten(2).transpose(1, 2) + self.positions
        level = self.level(level_embedding(levels))
        for block in self.blocks:
            x = block(x, level)
        noise = self.head(self.norm(x)).transpose(1, 2)
        return F.pixel_shuffle(noise.unflatten(2, (SIZE // PATCH, SIZE // PATCH)), PATCH)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    images = draw_wings()
    kept = noise_schedule()
    model = WingDiffusion()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

    step_times, losses = [], []
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        for rows in torch.randperm(IMAGES).split(BATCH_SIZE):
            clean = images[rows]
            levels = torch.randint(NOISE_LEVELS, (len(rows),))
            noise = torch.randn_like(clean)
            share = kept[levels].view(-1, 1, 1, 1)
            noisy = share.sqrt() * clean + (1 - share).sqrt() * noise
            loss = F.mse_loss(model(noisy, levels), noise)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now > finish:
                break
    print(f"{len(losses)} steps, last losses {statistics.mean(losses[-10:]):.4f}")

    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
