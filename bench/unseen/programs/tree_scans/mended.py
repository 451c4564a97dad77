"""Estimates the timber of trees from laser scans, with two processes."""
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

SEED = 101
PROCESSES = 2
TREES = 1200
BATCH_SIZE = 48
STEPS = 60
WIDTH = 96
LEARNING_RATE = 1e-3
PORT = "29641"


def write_scans(path):
    """One file of points, tree after tree, in the order of the survey (small trees first)."""
    rng = np.random.default_rng(SEED)
    heights = np.sort(rng.lognormal(2.3, 0.35, size=TREES))
    counts = np.clip(0.6 * heights ** 2.6, 30, 3000).astype(np.int64)
    points = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(int(counts.sum()), 4))
    timber = np.empty(TREES, dtype=np.float32)
    start = 0
    for tree, (height, count) in enumerate(zip(heights, counts)):
        crown = rng.uniform(0.1, 0.35)
        z = rng.beta(3, 2, size=count)
        radius = crown * (1.1 - z) * np.sqrt(rng.uniform(size=count))
        angle = rng.uniform(0, 2 * np.pi, size=count)
        points[start:start + count] = np.stack(
            [radius * np.cos(angle), radius * np.sin(angle), z, np.full(count, height / 20)], axis=1
        )
        timber[tree] = height / 10 * (1 + 3 * crown) + rng.normal(scale=0.05)
        start += count
    points.flush()
    return counts, timber


class Scans:
    def __init__(self, path, counts, timber):
        self.points = np.load(path, mmap_mode="r")
        self.counts = counts
        self.ends = np.cumsum(counts)
        self.timber = torch.from_numpy(timber)

    def read(self, trees):
        """Return all points of the trees, which tree each is of, and the timber."""
        pieces = [self.points[self.ends[tree] - self.counts[tree]:self.ends[tree]] for tree in trees]
        counts = torch.from_numpy(self.counts[trees])
        owner = torch.repeat_interleave(torch.arange(len(trees)), counts)
        return torch.from_numpy(np.concatenate(pieces)), owner, self.timber[trees]


class TimberModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.point_layers = nn.Sequential(
            nn.Linear(4, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)
        )
        self.tree_layers = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def forward(self, points, owner, trees):
        x = self.point_layers(points)
        sums = x.new_zeros(trees, WIDTH).index_add(0, owner, x)
        means = sums / torch.bincount(owner, minlength=trees).unsqueeze(1)
        return self.tree_layers(means).squeeze(1)


def train(rank, path, counts, timber):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = PORT
    dist.init_process_group("gloo", rank=rank, world_size=PROCESSES)
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    scans = Scans(path, counts, timber)
    model = DistributedDataParallel(TimberModel())
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    rng = np.random.default_rng(SEED + 1)

    step_times = []
    losses = []
    last = time.perf_counter()
    for step in range(STEPS):
        batch = np.sort(rng.choice(TREES, size=BATCH_SIZE, replace=False))
        mine = batch[rank::PROCESSES]
        points, owner, wanted = scans.read(mine)
        optimizer.zero_grad()
        loss = F.mse_loss(model(points, owner, len(mine)), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    result = torch.tensor(statistics.mean(losses[-10:]))
    dist.all_reduce(result)
    if rank == 0:
        print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
        print(f"result={result.item() / PROCESSES:.6f}")
    dist.barrier()
    dist.destroy_process_group()


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scans.npy")
        counts, timber = write_scans(path)
        mp.spawn(train, args=(path, counts, timber), nprocs=PROCESSES)


if __name__ == "__main__":
    main()
