"""Mean wind at candidate turbine sites from the terrain around them, data parallel on two ranks."""
import math
import os
import shutil
import socket
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

TRAIN_SECONDS = 11
WORLD = 2
MAP_SIZE = 1800
PATCH = 24
SITES = 20_000
BATCH = 32


def make_terrain(generator):
    """Elevation, slope in two directions, roughness, forest cover and distance to the coast on one grid."""
    coarse = torch.randn(1, 1, 40, 40, generator=generator)
    fine = torch.randn(1, 1, 200, 200, generator=generator)
    size = (MAP_SIZE, MAP_SIZE)
    elevation = F.interpolate(coarse, size, mode="bicubic", align_corners=False)
    elevation = (elevation + 0.2 * F.interpolate(fine, size, mode="bilinear", align_corners=False))[0, 0]
    slope_y, slope_x = torch.gradient(elevation)
    rough = F.interpolate(torch.rand(1, 1, 150, 150, generator=generator), size, mode="bilinear")[0, 0]
    forest = (rough > 0.55).float()
    coast = torch.linspace(0, 1, MAP_SIZE).expand(MAP_SIZE, MAP_SIZE)
    return torch.stack([elevation, 10 * slope_y, 10 * slope_x, rough, forest, coast])


def make_sites(terrain, generator):
    corners = torch.randint(0, MAP_SIZE - PATCH, (SITES, 2), generator=generator)
    centre = corners + PATCH // 2
    at = terrain[:, centre[:, 0], centre[:, 1]]
    direction = 2 * math.pi * torch.rand(SITES, generator=generator)
    exposure = torch.cos(direction) * at[1] + torch.sin(direction) * at[2]
    wind = 0.8 * at[0] + 0.6 * exposure - 0.7 * at[4] - 0.5 * at[5]
    wind = wind + 0.1 * torch.randn(SITES, generator=generator)
    weather = torch.stack([torch.cos(direction), torch.sin(direction)], dim=1)
    return corners, weather, (wind - wind.mean()) / wind.std()


class WindNet(nn.Module):
    """Cuts the surroundings of a site out of the map and reads them with a small convolutional net."""

    def __init__(self, terrain):
        super().__init__()
        self.register_buffer("terrain", terrain)
        self.register_buffer("span", torch.arange(PATCH))
        self.encoder = nn.Sequential(
            nn.Conv2d(terrain.size(0), 24, 3, padding=1), nn.GELU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(48, 64, 3, stride=2, padding=1), nn.GELU(),
        )
        self.head = nn.Sequential(nn.Linear(64 * 36 + 2, 128), nn.GELU(), nn.Linear(128, 1))

    def cut(self, corners):
        rows = corners[:, 0, None] + self.span
        cols = corners[:, 1, None] + self.span
        return self.terrain[:, rows[:, :, None], cols[:, None, :]].transpose(0, 1)

    def forward(self, corners, weather):
        features = self.encoder(self.cut(corners).contiguous()).flatten(1)
        return self.head(torch.cat([features, weather], dim=1)).squeeze(1)


class SiteSampler:
    def __init__(self, sites, rank, seed):
        self.corners, self.weather, self.wind = sites
        self.rank = rank
        self.generator = torch.Generator().manual_seed(seed)

    def next(self):
        rows = torch.randint(0, SITES, (WORLD, BATCH), generator=self.generator)[self.rank]
        return self.corners[rows], self.weather[rows], self.wind[rows]


def train_step(model, optimizer, batch):
    corners, weather, wind = batch
    loss = F.mse_loss(model(corners, weather), wind)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def worker(rank, folder, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=WORLD)
    torch.manual_seed(42)
    data = torch.load(os.path.join(folder, "region.pt"))
    sampler = SiteSampler(data["sites"], rank, seed=43)
    model = DistributedDataParallel(WindNet(data["terrain"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    losses, times = [], []
    begin = time.perf_counter()
    running = True
    while running:
        start = time.perf_counter()
        loss = train_step(model, optimizer, sampler.next())
        status = torch.tensor([loss / WORLD, float(time.perf_counter() - begin > TRAIN_SECONDS)])
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
    generator = torch.Generator().manual_seed(41)
    folder = tempfile.mkdtemp(prefix="wind_")
    try:
        terrain = make_terrain(generator)
        sites = make_sites(terrain, generator)
        torch.save({"terrain": terrain, "sites": sites}, os.path.join(folder, "region.pt"))
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        mp.spawn(worker, args=(folder, port), nprocs=WORLD)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
