"""Trains a network that restores the colours of synthetic underwater reef photographs."""
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

TRAIN_SECONDS = 11
SIZE = 96
PHOTOS = 256
BATCH = 4
WIDTH = 16
SSIM_WINDOW = 17
SSIM_SIGMA = 2.5
SSIM_WEIGHT = 0.6
VALIDATE_EVERY = 80


def make_photos(count, seed):
    """Clean reef scenes made of soft coloured blobs, and their blue-green, hazy versions."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.rand(count, 3, 8, 8, generator=generator)
    middle = torch.rand(count, 3, 24, 24, generator=generator)
    clean = 0.6 * F.interpolate(coarse, size=(SIZE, SIZE), mode="bicubic", align_corners=False)
    clean = clean + 0.4 * F.interpolate(middle, size=(SIZE, SIZE), mode="bilinear", align_corners=False)
    clean = clean.clamp(0, 1)
    depth = 0.5 + 1.5 * torch.rand(count, 1, 1, 1, generator=generator)
    slope = torch.linspace(0.7, 1.3, SIZE)[:, None]
    absorb = torch.tensor([0.9, 0.25, 0.15])[:, None, None]
    light = torch.exp(-absorb * depth * slope)
    haze = torch.tensor([0.05, 0.35, 0.45])[:, None, None]
    murky = clean * light + haze * (1 - light)
    murky = murky + 0.02 * torch.randn(murky.shape, generator=generator)
    return TensorDataset(murky.clamp(0, 1), clean)


class GatedBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.spread = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.join = nn.Conv2d(width, width, 1)

    def forward(self, x):
        value, gate = self.spread(x).chunk(2, dim=1)
        return x + self.join(value * torch.sigmoid(gate))


class RestoreNet(nn.Module):
    """A two-level encoder and decoder predicting a colour correction."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, WIDTH, 4, stride=2, padding=1)
        self.down = nn.Conv2d(WIDTH, 2 * WIDTH, 2, stride=2)
        self.deep = nn.Sequential(GatedBlock(2 * WIDTH), GatedBlock(2 * WIDTH))
        self.up = nn.ConvTranspose2d(2 * WIDTH, WIDTH, 2, stride=2)
        self.head = nn.ConvTranspose2d(WIDTH, 3, 4, stride=2, padding=1)

    def forward(self, photo):
        fine = F.relu(self.stem(photo))
        deep = self.up(self.deep(self.down(fine)))
        return photo + self.head(F.relu(fine + deep))


def gaussian(window, sigma):
    offset = torch.arange(window, dtype=torch.float32) - window // 2
    weight = torch.exp(-offset ** 2 / (2 * sigma ** 2))
    return weight / weight.sum()


class StructuralLoss(nn.Module):
    """One minus the structural similarity of two batches of colour photographs."""

    def __init__(self, window=SSIM_WINDOW, sigma=SSIM_SIGMA, channels=3, peak=1.0):
        super().__init__()
        line = gaussian(window, sigma)
        self.channels = channels
        self.register_buffer("kernel", torch.outer(line, line).expand(channels, 1, window, window).contiguous())
        self.c1, self.c2 = (0.01 * peak) ** 2, (0.03 * peak) ** 2

    def smooth(self, image):
        return F.conv2d(image, self.kernel, groups=self.channels)

    def similarity(self, first, second):
        mean1, mean2 = self.smooth(first), self.smooth(second)
        var1 = self.smooth(first * first) - mean1 ** 2
        var2 = self.smooth(second * second) - mean2 ** 2
        both = self.smooth(first * second) - mean1 * mean2
        light = (2 * mean1 * mean2 + self.c1) / (mean1 ** 2 + mean2 ** 2 + self.c1)
        return (light * (2 * both + self.c2) / (var1 + var2 + self.c2)).mean()

    def forward(self, first, second):
        return 1 - self.similarity(first, second)


def train_step(model, structural, optimizer, murky, clean):
    restored = model(murky)
    pixel = F.l1_loss(restored, clean)
    loss = SSIM_WEIGHT * structural(restored, clean) + (1 - SSIM_WEIGHT) * pixel
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.inference_mode()
def validate(model, structural, loader):
    model.eval()
    scores = [structural.similarity(model(murky).clamp(0, 1), clean).item() for murky, clean in loader]
    model.train()
    return statistics.mean(scores)


def endless(loader):
    while True:
        yield from loader


def main():
    torch.set_num_threads(2)
    torch.manual_seed(4)
    sampler = torch.Generator().manual_seed(6)
    batches = endless(DataLoader(make_photos(PHOTOS, 31), BATCH, shuffle=True, generator=sampler))
    held_out = DataLoader(make_photos(16, 32), 8)
    model, structural = RestoreNet(), StructuralLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        murky, clean = next(batches)
        losses.append(train_step(model, structural, optimizer, murky, clean))
        times.append((time.perf_counter() - began) * 1e3)
        if len(losses) % VALIDATE_EVERY == 0:
            print(f"step {len(losses)}: validation similarity {validate(model, structural, held_out):.4f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
