"""Two processes learn to name fossils from drawings of their shells."""
import math
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

SEED = 59
RANKS = 2
SIZE = 32
CLASSES = 6
TRAIN = 2048
CHECK = 1024
BATCH_SIZE = 32
STEPS_PER_ROUND = 8
ROUNDS = 18


def draw_shells(count, seed):
    generator = torch.Generator().manual_seed(seed)
    axis = torch.linspace(-1, 1, SIZE)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    kinds = torch.randint(0, CLASSES, (count,), generator=generator)
    shift = 0.3 * torch.rand(2, count, 1, 1, generator=generator) - 0.15
    radius = ((x - shift[0]) ** 2 + (y - shift[1]) ** 2).sqrt()
    angle = torch.atan2(y - shift[1], x - shift[0])
    turns = 2 * math.pi * torch.rand(count, 1, 1, generator=generator)
    coils = 3 + 2 * (kinds % 3).view(-1, 1, 1)
    arms = 1 + 3 * (kinds // 3).view(-1, 1, 1)
    shells = torch.cos(coils * radius * 2 + arms * angle + turns) * (radius < 0.9)
    shells = shells + 0.3 * torch.randn(shells.shape, generator=generator)
    return shells.unsqueeze(1), kinds


class ShellNet(nn.Module):
    def __init__(self):
        super().__init__()
        layers, inputs = [], 1
        for width in (16, 24, 32):
            layers += [
                nn.Conv2d(inputs, width, 3, padding=1), nn.GroupNorm(4, width), nn.ReLU(),
                nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            ]
            inputs = width
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(32, CLASSES)

    def forward(self, shells):
        return self.head(self.layers(shells).mean(dim=(2, 3)))


@torch.no_grad()
def accuracy(model, shells, kinds):
    model.eval()
    right = torch.zeros(())
    for part, names in zip(shells.split(256), kinds.split(256)):
        right += (model(part).argmax(dim=1) == names).sum()
    model.train()
    return right / len(shells)


def work(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=RANKS
    )
    torch.manual_seed(SEED)
    shells, kinds = draw_shells(TRAIN, SEED)
    check_shells, check_kinds = draw_shells(CHECK, SEED + 1)
    shells, kinds = shells[rank::RANKS], kinds[rank::RANKS]
    model = DistributedDataParallel(ShellNet())
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    order = torch.Generator().manual_seed(SEED + rank)

    round_times = []
    best = 0.0
    last = time.perf_counter()
    for number in range(ROUNDS):
        for _ in range(STEPS_PER_ROUND):
            rows = torch.randint(0, len(shells), (BATCH_SIZE,), generator=order)
            loss = F.cross_entropy(model(shells[rows]), kinds[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        share = accuracy(model.module, check_shells, check_kinds).item()
        if rank == 0:
            if share > best:
                best = share
                torch.save(model.module.state_dict(), os.path.join(folder, "best.pt"))
            print(f"round {number}: loss {loss.item():.4f}, accuracy {share:.4f}", flush=True)
        dist.barrier()
        now = time.perf_counter()
        round_times.append(now - last)
        last = now

    if rank == 0:
        print(f"step_ms={statistics.median(round_times[1:]) * 1000:.2f}")
        print(f"result={best:.6f}", flush=True)
    dist.destroy_process_group()


def main():
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(folder,), nprocs=RANKS)


if __name__ == "__main__":
    main()
