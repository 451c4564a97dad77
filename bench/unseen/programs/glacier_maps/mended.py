"""Maps ice, rock, snow, water and shadow on satellite tiles and stores the maps for the archive."""
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 97
TILES = 480
SIZE = 96
BANDS = 6
CLASSES = ["ice", "rock", "snow", "water", "shadow"]
BATCH_SIZE = 12
WIDTH = 32
ROUNDS = 4


def make_tiles():
    rng = np.random.default_rng(SEED)
    rows, columns = np.mgrid[:SIZE, :SIZE] / SIZE
    tiles = np.empty((TILES, BANDS, SIZE, SIZE), dtype=np.float32)
    for tile in tiles:
        slope = rng.normal(size=(BANDS, 2))
        waves = np.sin(rng.uniform(3, 12) * rows + rng.uniform(3, 12) * columns + rng.uniform(0, 6))
        tile[:] = slope[:, :1, None] * rows + slope[:, 1:, None] * columns + 0.5 * waves
    tiles += rng.standard_normal(tiles.shape, dtype=np.float32) * np.float32(0.1)
    return torch.from_numpy(tiles)


def double_convolution(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
    )


class GlacierUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = double_convolution(BANDS, WIDTH)
        self.down2 = double_convolution(WIDTH, 2 * WIDTH)
        self.bottom = double_convolution(2 * WIDTH, 4 * WIDTH)
        self.reduce2 = nn.Conv2d(4 * WIDTH, 2 * WIDTH, 1)
        self.up2 = double_convolution(4 * WIDTH, 2 * WIDTH)
        self.reduce1 = nn.Conv2d(2 * WIDTH, WIDTH, 1)
        self.up1 = double_convolution(2 * WIDTH, WIDTH)
        self.head = nn.Conv2d(WIDTH, len(CLASSES), 1)
        nn.init.normal_(self.head.weight, std=1.0)

    def forward(self, tiles):
        fine = self.down1(tiles)
        middle = self.down2(F.max_pool2d(fine, 2))
        coarse = self.bottom(F.max_pool2d(middle, 2))
        x = F.interpolate(self.reduce2(coarse), scale_factor=2)
        x = self.up2(torch.cat([x, middle], dim=1))
        x = F.interpolate(self.reduce1(x), scale_factor=2)
        return self.head(self.up1(torch.cat([x, fine], dim=1)))


class Archive:
    """Keeps the maps of every tile in a file of its own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.count = 0

    def path(self, number):
        return self.folder / f"tile_{number:05d}.npz"

    def store(self, number, shares, land):
        np.savez(self.path(number), shares=shares, land=land)
        self.count += 1

    def ice_share(self, number):
        with np.load(self.path(number)) as stored:
            return float((stored["land"] == CLASSES.index("ice")).mean())


class Mapper:
    def __init__(self, model, archive):
        self.model = model.eval()
        self.archive = archive

    @torch.inference_mode()
    def map_tiles(self, numbers, tiles):
        shares = self.model(tiles).softmax(dim=1)
        land = shares.argmax(dim=1).to(torch.uint8)
        for number, tile_shares, tile_land in zip(numbers, shares.numpy(), land.numpy()):
            self.archive.store(number, tile_shares, tile_land)
        return float(shares.amax(dim=1).mean())


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    tiles = make_tiles()
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive(folder)
        mapper = Mapper(GlacierUNet(), archive)
        step_times, sureness = [], []
        last = time.perf_counter()
        for season in range(ROUNDS):
            for numbers in torch.arange(TILES).split(BATCH_SIZE):
                sureness.append(mapper.map_tiles(numbers.tolist(), tiles[numbers]))
                now = time.perf_counter()
                step_times.append(now - last)
                last = now
        ice = statistics.mean(archive.ice_share(number) for number in range(0, TILES, 24))

    print(f"{archive.count} maps stored, mean sureness {statistics.mean(sureness):.4f}")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(sureness) + ice:.6f}")


if __name__ == "__main__":
    main()
