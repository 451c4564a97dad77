"""Finds bows, sterns and other points of the boats in a harbour; two processes share the batch."""
import os
import statistics
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

SEED = 113
RANKS = 2
IMAGES = 160
SIZE = 128
STRIDE = 2
POINTS = 16
BATCH_SIZE = 8
STEPS = 180
MOST_BOATS = 25


def make_harbours(rank):
    """Bright boats of any length and direction; their points lie from the bow to the stern."""
    rng = np.random.default_rng(SEED + rank)
    images = rng.normal(0.2, 0.08, size=(IMAGES, 1, SIZE, SIZE)).astype(np.float32)
    points = []
    along = np.linspace(-1, 1, POINTS)
    for image in images:
        boats = rng.integers(10, MOST_BOATS + 1)
        angle = rng.uniform(0, 2 * np.pi, size=(boats, 1))
        length = rng.uniform(4, 9, size=(boats, 1))
        x = rng.uniform(10, SIZE - 10, size=(boats, 1)) + along * length * np.cos(angle)
        y = rng.uniform(10, SIZE - 10, size=(boats, 1)) + along * length * np.sin(angle)
        for step in range(3):
            image[0, y.astype(int), x.astype(int) + step - 1] += 0.4 + 0.3 * along.astype(np.float32)
        points.append(torch.from_numpy(np.stack([x, y], axis=2) / STRIDE).long())
    return torch.from_numpy(images), points


def make_targets(points):
    """A heatmap for each of the points of a boat, with a small hill at each boat's point."""
    size = SIZE // STRIDE
    blur = torch.tensor([[0.3, 0.6, 0.3], [0.6, 1.0, 0.6], [0.3, 0.6, 0.3]]).view(1, 1, 3, 3)
    places = torch.zeros(len(points), POINTS, size, size)
    for number, boats in enumerate(points):
        places[number, torch.arange(POINTS), boats[:, :, 1], boats[:, :, 0]] = 1
    hills = F.conv2d(places.flatten(0, 1).unsqueeze(1), blur, padding=1)
    return hills.view_as(places).clamp(max=1)


class PointNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(1, width, 5, stride=STRIDE, padding=2), nn.ReLU(),
            nn.Conv2d(width, 3 * width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(3 * width, 3 * width, 3, padding=1), nn.ReLU(),
        )
        self.heat = nn.ConvTranspose2d(3 * width, POINTS, 2, stride=2)

    def forward(self, images):
        return self.heat(self.down(images))


class FoundPoints:
    """How many of the points have been found by the model in the batches of all processes."""

    def __init__(self):
        self.history = []

    @torch.no_grad()
    def update(self, scores, target):
        found = ((scores > 0) & (target == 1)).sum()
        counts = torch.stack([found, (target == 1).sum()])
        dist.all_reduce(counts)
        self.history.append(float(counts[0] / counts[1]))


def train(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=RANKS)
    torch.manual_seed(SEED)
    images, points = make_harbours(rank)
    targets = make_targets(points)
    model = DistributedDataParallel(PointNet())
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    chooser = torch.Generator().manual_seed(SEED + rank)
    found = FoundPoints()

    step_times = []
    for step in range(STEPS):
        start = time.perf_counter()
        chosen = torch.randint(IMAGES, (BATCH_SIZE,), generator=chooser)
        target = targets[chosen]
        scores = model(images[chosen])
        loss = F.binary_cross_entropy_with_logits(scores, target, pos_weight=torch.tensor(4.0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.update(scores, target)
        step_times.append(time.perf_counter() - start)

    if rank == 0:
        print(f"loss={loss.item():.4f}")
        print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
        print(f"result={statistics.mean(found.history[-10:]):.6f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(folder,), nprocs=RANKS)
