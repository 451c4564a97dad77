"""Measures how well a photo encoder finds the catalogue entry that belongs to a customer's photo."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 47
PRODUCTS = 1500
PHOTOS = 3840
SIDE = 32
WIDTH = 40
CODE = 64
BATCH_SIZE = 64
AT = 5


def make_photos():
    """Each product has a pattern; a customer's photo is a shifted and noisy view of it."""
    rng = np.random.default_rng(SEED)
    coarse = rng.normal(size=(PRODUCTS, 3, 8, 8)).astype(np.float32)
    catalogue = coarse.repeat(SIDE // 8, axis=2).repeat(SIDE // 8, axis=3)
    wanted = rng.integers(0, PRODUCTS, size=PHOTOS)
    photos = np.empty((PHOTOS, 3, SIDE, SIDE), dtype=np.float32)
    for number, product in enumerate(wanted):
        shift = tuple(rng.integers(-2, 3, size=2))
        photos[number] = np.roll(catalogue[product], shift, axis=(1, 2))
    photos += rng.normal(scale=0.9, size=photos.shape)
    return torch.from_numpy(catalogue), torch.from_numpy(photos), torch.from_numpy(wanted)


class PhotoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, WIDTH, 3, padding=1),
            nn.BatchNorm2d(WIDTH),
            nn.ReLU(),
            nn.Conv2d(WIDTH, WIDTH, 3, stride=2, padding=1),
            nn.BatchNorm2d(WIDTH),
            nn.ReLU(),
            nn.Conv2d(WIDTH, 2 * WIDTH, 3, stride=2, padding=1),
            nn.BatchNorm2d(2 * WIDTH),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
        )
        self.code = nn.Linear(2 * WIDTH * 16, CODE)

    def forward(self, photos):
        return self.code(self.features(photos).flatten(1))


def similarity(queries, entries):
    """Cosine of the angle between each query and each catalogue entry."""
    return F.normalize(queries, dim=1) @ F.normalize(entries, dim=1).T


def encode_catalogue(model, catalogue):
    return torch.cat([model(part) for part in catalogue.split(200)])


@torch.inference_mode()
def evaluate(model, catalogue, loader):
    entries = encode_catalogue(model, catalogue)
    found = 0
    seen = 0
    reciprocal = 0.0
    step_times = []
    started = time.perf_counter()
    for photos, wanted in loader:
        scores = similarity(model(photos), entries)
        right = scores.gather(1, wanted.unsqueeze(1))
        rank = (scores > right).sum(dim=1) + 1
        found += (rank <= AT).sum().item()
        reciprocal += (1.0 / rank).sum().item()
        seen += len(wanted)
        now = time.perf_counter()
        step_times.append(now - started)
        started = now
    return found / seen, reciprocal / seen, step_times


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    catalogue, photos, wanted = make_photos()
    loader = DataLoader(TensorDataset(photos, wanted), batch_size=BATCH_SIZE)
    model = PhotoEncoder().eval()
    found, reciprocal, step_times = evaluate(model, catalogue, loader)

    print(f"among the first {AT}: {found:.3f}")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={reciprocal:.6f}")


if __name__ == "__main__":
    main()
