"""Learns to recognise plankton again in two views of the same specimen, with a contrastive loss."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 866
SPECIMENS = 3000
SIZE = 32
BATCH_SIZE = 96
EMBEDDING = 128
TEMPERATURE = 0.2
LEARNING_RATE = 1e-3
TRAIN_SECONDS = 11.5
REPORTED_STEPS = 8


def photograph_specimens():
    rng = np.random.default_rng(SEED)
    y, x = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j].astype(np.float32)
    angle = np.arctan2(y, x)
    radius = np.hypot(x, y)
    arms = rng.integers(2, 9, size=(SPECIMENS, 1, 1))
    depth = rng.uniform(0.05, 0.35, size=(SPECIMENS, 1, 1)).astype(np.float32)
    body = rng.uniform(0.3, 0.6, size=(SPECIMENS, 1, 1)).astype(np.float32)
    turn = rng.uniform(0, 6, size=(SPECIMENS, 1, 1)).astype(np.float32)
    outline = body + depth * np.cos(arms * angle + turn)
    photos = 1 / (1 + np.exp(20 * (radius - outline)))
    photos = photos * (0.6 + 0.4 * np.cos(rng.uniform(4, 20, size=(SPECIMENS, 1, 1)) * radius))
    return torch.from_numpy(photos.astype(np.float32)).unsqueeze(1)


class Views:
    """Makes random views of photographs: moved, mirrored, brighter or darker, noisy."""

    def __init__(self):
        self.generator = torch.Generator().manual_seed(SEED)

    def __call__(self, photos):
        count = len(photos)
        move = (torch.rand(count, 2, generator=self.generator) - 0.5) * 0.4
        zoom = 0.8 + 0.4 * torch.rand(count, 2, generator=self.generator)
        mirror = torch.randint(2, (count, 2), generator=self.generator) * 2 - 1
        theta = torch.cat([torch.diag_embed(zoom * mirror), move.unsqueeze(2)], dim=2)
        grid = F.affine_grid(theta, list(photos.shape), align_corners=False)
        views = F.grid_sample(photos, grid, align_corners=False)
        light = 0.7 + 0.6 * torch.rand(count, 1, 1, 1, generator=self.generator)
        return views * light + 0.05 * torch.randn(views.shape, generator=self.generator)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()

        def block(inputs, outputs):
            return nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
            )

        self.body = nn.Sequential(block(1, 32), block(32, 64), block(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.projector = nn.Sequential(nn.Linear(128, 128), nn.ReLU(inplace=True), nn.Linear(128, EMBEDDING))

    def forward(self, photos):
        return self.projector(self.body(photos))


def contrastive_loss(embeddings):
    """NT-Xent for 2 N embeddings, the first N of which are views of the same specimens as the last N."""
    similarity = F.cosine_similarity(embeddings.unsqueeze(1), embeddings.unsqueeze(0), dim=2)
    count = len(embeddings)
    itself = torch.eye(count, dtype=torch.bool)
    logits = (similarity / TEMPERATURE).masked_fill(itself, float("-inf"))
    partners = torch.arange(count).roll(count // 2)
    return F.cross_entropy(logits, partners)


@torch.no_grad()
def found_again(model, views, photos):
    model.eval()
    first = F.normalize(model(views(photos)), dim=1)
    second = F.normalize(model(views(photos)), dim=1)
    nearest = (first @ second.T).argmax(1)
    return (nearest == torch.arange(len(photos))).float().mean().item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    photos = photograph_specimens()
    train, test = photos[:-200], photos[-200:]
    views = Views()
    model = Encoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=1e-4)

    step_times, losses = [], []
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        for rows in torch.randperm(len(train)).split(BATCH_SIZE):
            batch = train[rows]
            embeddings = model(torch.cat([views(batch), views(batch)]))
            loss = contrastive_loss(embeddings)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now > finish:
                break

    print(f"{len(losses)} steps, found again {found_again(model, views, test):.3f}")
    print(f"step_ms={statistics.median(step_times[2:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
