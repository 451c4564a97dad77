"""Learns features of butterfly wings by comparing two views of each photo."""
import statistics
import time

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import nn
from torch.nn import functional as F

SEED = 71
PHOTOS = 480
SIZE = 160
VIEW = 48
BATCH_SIZE = 32
EPOCHS = 14
MEAN = torch.tensor([0.45, 0.42, 0.38]).view(3, 1, 1)
DEVIATION = torch.tensor([0.25, 0.24, 0.23]).view(3, 1, 1)


def draw_butterfly(rng):
    image = Image.new("RGB", (SIZE, SIZE), tuple(rng.integers(60, 200, size=3)))
    draw = ImageDraw.Draw(image)
    wing = tuple(rng.integers(0, 256, size=3))
    spot = tuple(rng.integers(0, 256, size=3))
    spread = int(rng.integers(30, 55))
    middle = SIZE // 2
    for side in (-1, 1):
        for height, scale in ((-25, 1.0), (25, 0.75)):
            x, y = middle + side * spread * 0.9, middle + height
            r = spread * scale
            draw.ellipse((x - r, y - r, x + r, y + r), fill=wing)
            for _ in range(4):
                dx, dy = rng.uniform(-0.6, 0.6, size=2) * r
                size = rng.uniform(3, 8)
                draw.ellipse((x + dx - size, y + dy - size, x + dx + size, y + dy + size), fill=spot)
    draw.rectangle((middle - 4, middle - 45, middle + 4, middle + 45), fill=(30, 25, 20))
    return torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous()


def random_view(photo):
    view = photo.float() / 255
    brightness = 0.6 + 0.8 * torch.rand(3, 1, 1)
    view = (view * brightness).clamp(0, 1)
    gamma = 0.7 + 0.7 * torch.rand(()).item()
    view = (view + 1e-3) ** gamma
    view = (view - MEAN) / DEVIATION
    if torch.rand(()) < 0.5:
        view = view.flip(2)
    top, left = torch.randint(20, SIZE - VIEW - 20, (2,)).tolist()
    return view[:, top:top + VIEW, left:left + VIEW]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 24, 3, stride=2, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.BatchNorm2d(48), nn.ReLU(),
            nn.Conv2d(48, 96, 3, stride=2, padding=1), nn.BatchNorm2d(96), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.projector = nn.Sequential(nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 64))

    def forward(self, views):
        return F.normalize(self.projector(self.layers(views)), dim=1)


def contrastive_loss(first, second, temperature=0.2):
    codes = torch.cat([first, second])
    similarity = codes @ codes.T / temperature
    similarity.fill_diagonal_(-1e9)
    partner = torch.arange(len(codes)).roll(len(first))
    return F.cross_entropy(similarity, partner)


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    photos = [draw_butterfly(rng) for _ in range(PHOTOS)]
    model = Encoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for rows in torch.randperm(PHOTOS).split(BATCH_SIZE):
            batch = [photos[row] for row in rows.tolist()]
            first = torch.stack([random_view(photo) for photo in batch])
            second = torch.stack([random_view(photo) for photo in batch])
            loss = contrastive_loss(model(first), model(second))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
        print(f"epoch {epoch}: loss {statistics.mean(losses[-15:]):.4f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-15:]):.6f}")


if __name__ == "__main__":
    main()
