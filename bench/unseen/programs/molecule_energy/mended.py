"""Energy regression on molecules, data parallel on two ranks, reading from memory-mapped arrays."""
import os
import shutil
import socket
import statistics
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

TRAIN_SECONDS = 11
WORLD = 2
MOLECULES = 4000
BATCH = 64
NEIGHBOURS = 6
SPECIES = 5
WIDTH = 64


def build_dataset(folder):
    """Atoms of all molecules end to end, in the order of the catalogue: small molecules first."""
    rng = np.random.default_rng(41)
    sizes = np.sort(np.clip(rng.lognormal(3.1, 0.6, MOLECULES).astype(np.int64), 7, 120))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    total = int(offsets[-1])
    species = rng.integers(0, SPECIES, total)
    start = np.repeat(offsets[:-1], sizes)
    size = np.repeat(sizes, sizes)
    local = np.arange(total) - start
    steps = np.array([-3, -2, -1, 1, 2, 3])
    neighbours = (local[:, None] + steps) % size[:, None]
    distances = (np.abs(steps) * 0.9 + 0.3 * rng.random((total, NEIGHBOURS))).astype(np.float32)
    charge = np.array([0.2, -0.5, 0.9, -0.1, 0.4])
    pair = charge[species][:, None] * charge[species[start[:, None] + neighbours]] / distances
    energy = np.add.reduceat(pair.sum(1), offsets[:-1]) / sizes
    energy = ((energy - energy.mean()) / energy.std()).astype(np.float32)
    arrays = dict(species=species, neighbours=neighbours, distances=distances, offsets=offsets, energy=energy)
    for name, array in arrays.items():
        np.save(os.path.join(folder, f"{name}.npy"), array)


class MoleculeStore:
    def __init__(self, folder):
        def load(name):
            return np.load(os.path.join(folder, f"{name}.npy"), mmap_mode="r")
        self.species, self.neighbours, self.distances = load("species"), load("neighbours"), load("distances")
        self.offsets, self.energy = np.array(load("offsets")), np.array(load("energy"))

    def read(self, molecules):
        spans = [slice(self.offsets[m], self.offsets[m + 1]) for m in molecules]
        counts = np.array([s.stop - s.start for s in spans])
        base = np.repeat(np.cumsum(counts) - counts, counts)
        species = np.concatenate([self.species[s] for s in spans])
        neighbours = np.concatenate([self.neighbours[s] for s in spans]) + base[:, None]
        distances = np.concatenate([self.distances[s] for s in spans])
        owner = np.repeat(np.arange(len(counts)), counts)
        arrays = (species, neighbours, distances, owner, counts.astype(np.float32), self.energy[molecules])
        return [torch.from_numpy(a) for a in arrays]


class BatchPlan:
    """The same permutation on every rank; molecules of a batch in file order, as sequential reads are cheaper."""

    def __init__(self, rank, seed):
        self.rank = rank
        self.rng = np.random.default_rng(seed)

    def next(self):
        batch = np.sort(self.rng.choice(MOLECULES, BATCH, replace=False))
        return batch[self.rank::WORLD]


class Interaction(nn.Module):
    def __init__(self, rbf):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(WIDTH + rbf, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.update = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, h, neighbours, basis):
        received = self.message(torch.cat([h[neighbours], basis], dim=-1)).sum(1)
        return h + self.update(torch.cat([h, received], dim=-1))


class EnergyNet(nn.Module):
    def __init__(self, rbf=16, layers=3):
        super().__init__()
        self.embed = nn.Embedding(SPECIES, WIDTH)
        self.centres = nn.Parameter(torch.linspace(0.5, 3.5, rbf), requires_grad=False)
        self.layers = nn.ModuleList(Interaction(rbf) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, 1))

    def forward(self, species, neighbours, distances, owner, counts):
        basis = torch.exp(-4.0 * (distances[..., None] - self.centres) ** 2)
        h = self.embed(species)
        for layer in self.layers:
            h = layer(h, neighbours, basis)
        atoms = self.head(h).squeeze(-1)
        return torch.zeros_like(counts).index_add(0, owner, atoms) / counts


def worker(rank, folder, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=WORLD)
    torch.manual_seed(42)
    store, plan = MoleculeStore(folder), BatchPlan(rank, seed=43)
    model = DistributedDataParallel(EnergyNet())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    losses, times = [], []
    begin = time.perf_counter()
    running = True
    while running:
        start = time.perf_counter()
        *inputs, energy = store.read(plan.next())
        loss = F.mse_loss(model(*inputs), energy)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        status = torch.tensor([loss.item() / WORLD, float(time.perf_counter() - begin > TRAIN_SECONDS)])
        dist.all_reduce(status)
        losses.append(status[0].item())
        running = status[1].item() == 0
        times.append((time.perf_counter() - start) * 1e3)

    if rank == 0:
        print(f"steps={len(losses)} last_loss={losses[-1]:.4f}")
        print(f"step_ms={statistics.median(times[3:]):.2f}")
        print(f"result={sum(losses[:15]) / 15:.4f}")
    dist.destroy_process_group()


def main():
    folder = tempfile.mkdtemp(prefix="molecules_")
    try:
        build_dataset(folder)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        mp.spawn(worker, args=(folder, port), nprocs=WORLD)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
