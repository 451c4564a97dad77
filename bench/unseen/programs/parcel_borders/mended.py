"""Segmentation of farm parcels in aerial tiles, with extra weight along the parcel borders."""
import math
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

TRAIN_SECONDS = 11
NUM_SCENES = 48
SCENE = 192
TILE = 128
BATCH = 6
BAND = 12


def make_scenes(count, seed):
    """Synthetic aerial scenes: rotated rectangular parcels with different crops."""
    gen = torch.Generator().manual_seed(seed)
    ys, xs = torch.meshgrid(torch.arange(SCENE), torch.arange(SCENE), indexing="ij")
    images = torch.rand(count, 3, SCENE, SCENE, generator=gen) * 0.3
    masks = torch.zeros(count, 1, SCENE, SCENE)
    for i in range(count):
        for _ in range(7):
            cx, cy = (torch.rand(2, generator=gen) * SCENE).tolist()
            half_w, half_h = (torch.rand(2, generator=gen) * 28 + 12).tolist()
            angle = torch.rand(1, generator=gen).item() * math.pi
            along = (xs - cx) * math.cos(angle) + (ys - cy) * math.sin(angle)
            across = (ys - cy) * math.cos(angle) - (xs - cx) * math.sin(angle)
            inside = (along.abs() < half_w) & (across.abs() < half_h)
            masks[i, 0][inside] = 1.0
            images[i, :, inside] += torch.rand(3, 1, generator=gen) * 0.6
    return images, masks


class TileSampler:
    """Random rotation, zoom and position; the tile is resampled from the scene."""

    def __init__(self, images, masks, seed):
        self.images, self.masks = images, masks
        self.gen = torch.Generator().manual_seed(seed)

    def next(self):
        picked = torch.randint(0, len(self.images), (BATCH,), generator=self.gen)
        angle = torch.rand(BATCH, generator=self.gen) * 2 * math.pi
        zoom = 0.4 + 0.25 * torch.rand(BATCH, generator=self.gen)
        shift = (torch.rand(BATCH, 2, generator=self.gen) - 0.5) * 0.6
        cos, sin = zoom * angle.cos(), zoom * angle.sin()
        theta = torch.stack([cos, -sin, shift[:, 0], sin, cos, shift[:, 1]], dim=1).view(BATCH, 2, 3)
        grid = F.affine_grid(theta, (BATCH, 1, TILE, TILE), align_corners=False)
        image = F.grid_sample(self.images[picked], grid, mode="bilinear", align_corners=False)
        mask = F.grid_sample(self.masks[picked], grid, mode="nearest", align_corners=False)
        return image, mask


def dilate(mask, radius):
    size = 2 * radius + 1
    mask = F.max_pool2d(mask, (size, 1), stride=1, padding=(radius, 0))
    return F.max_pool2d(mask, (1, size), stride=1, padding=(0, radius))


def border_weights(mask, radius, gain=4.0):
    """1 everywhere, 1 + gain for the pixels within `radius` of a parcel border."""
    grown = dilate(mask, radius)
    shrunk = 1.0 - dilate(1.0 - mask, radius)
    return 1.0 + gain * (grown - shrunk)


def conv_block(cin, cout, stride=1):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class ParcelNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.enter = conv_block(3, width, stride=2)
        self.down1 = nn.Sequential(conv_block(width, 2 * width, stride=2), conv_block(2 * width, 2 * width))
        self.down2 = nn.Sequential(conv_block(2 * width, 4 * width, stride=2), conv_block(4 * width, 4 * width))
        self.up1 = conv_block(6 * width, 2 * width)
        self.up2 = conv_block(3 * width, width)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        a = self.enter(x)
        b = self.down1(a)
        c = self.down2(b)
        b = self.up1(torch.cat([b, F.interpolate(c, scale_factor=2.0, mode="nearest")], dim=1))
        a = self.up2(torch.cat([a, F.interpolate(b, scale_factor=2.0, mode="nearest")], dim=1))
        return F.interpolate(self.head(a), scale_factor=2.0, mode="bilinear", align_corners=False)


def main():
    torch.manual_seed(5)
    torch.set_num_threads(2)
    sampler = TileSampler(*make_scenes(NUM_SCENES, seed=11), seed=12)
    model = ParcelNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)

    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        begin = time.perf_counter()
        image, mask = sampler.next()
        weights = border_weights(mask, BAND)
        logits = model(image)
        loss = F.binary_cross_entropy_with_logits(logits, mask, weight=weights)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append(time.perf_counter() - begin)

    print(f"steps={len(times)} last_loss={losses[-1]:.4f}")
    print(f"step_ms={statistics.median(times[3:]) * 1000:.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
