"""Trains a classifier of the birds on photos from a garden feeder camera."""
import colorsys
import itertools
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageEnhance
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 17
SPECIES, PHOTOS = 8, 128
PHOTO_SIZE = (800, 600)
VIEW = 176
BATCH_SIZE, WORKERS = 12, 2
LEARNING_RATE = 1e-3
RUN_SECONDS = 13.0
COMPARED_STEPS = 8


def paint_photo(species, rng):
    coarse = rng.integers(60, 190, size=(12, 16, 3), dtype=np.uint8)
    photo = Image.fromarray(coarse).resize(PHOTO_SIZE, Image.BICUBIC)
    draw = ImageDraw.Draw(photo)
    plumage = tuple(int(255 * part) for part in colorsys.hsv_to_rgb(species / SPECIES, 0.8, 0.85))
    for _ in range(9):
        x, y = rng.integers(60, PHOTO_SIZE[0] - 120), rng.integers(60, PHOTO_SIZE[1] - 120)
        draw.ellipse((x, y, x + rng.integers(50, 110), y + rng.integers(40, 80)), fill=plumage)
    return photo


def save_photos(folder):
    rng = np.random.default_rng(SEED)
    samples = []
    for number in range(PHOTOS):
        species = number % SPECIES
        path = Path(folder) / f"feeder_{number:04d}.jpg"
        paint_photo(species, rng).save(path, quality=88)
        samples.append((path, species))
    return samples


class Augment:
    """Random colours and a random square of the photo."""

    def __call__(self, photo):
        brightness, saturation = random.uniform(0.7, 1.3), random.uniform(0.6, 1.4)
        hue = random.randint(-8, 8)
        left = random.randint(0, photo.width - VIEW)
        top = random.randint(0, photo.height - VIEW)

        photo = photo.crop((left, top, left + VIEW, top + VIEW))
        photo = ImageEnhance.Brightness(photo).enhance(brightness)
        photo = ImageEnhance.Color(photo).enhance(saturation)
        return self.shift_hue(photo, hue)

    @staticmethod
    def shift_hue(photo, amount):
        hue, saturation, value = photo.convert("HSV").split()
        hue = hue.point([(level + amount) % 256 for level in range(256)])
        return Image.merge("HSV", (hue, saturation, value)).convert("RGB")


class FeederPhotos(Dataset):
    def __init__(self, samples):
        self.samples = samples
        self.augment = Augment()

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        path, species = self.samples[index]
        photo = self.augment(Image.open(path).convert("RGB"))
        pixels = torch.from_numpy(np.array(photo)).permute(2, 0, 1).float()
        return pixels / 127.5 - 1, species


def make_model():
    def block(inputs, outputs):
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
        )

    return nn.Sequential(
        block(3, 24), block(24, 48), block(48, 96), block(96, 128),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(128, SPECIES),
    )


def seed_worker(worker):
    random.seed(SEED + worker)


def train(loader, started):
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in itertools.count():
        for photos, species in loader:
            loss = F.cross_entropy(model(photos), species)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now - started > RUN_SECONDS:
                return step_times, losses
        print(f"epoch {epoch}: loss {statistics.mean(losses[-len(loader):]):.4f}")


def main():
    started = time.perf_counter()
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    with tempfile.TemporaryDirectory() as folder:
        photos = FeederPhotos(save_photos(folder))
        loader = DataLoader(
            photos, batch_size=BATCH_SIZE, shuffle=True, drop_last=True, num_workers=WORKERS,
            persistent_workers=True, worker_init_fn=seed_worker,
        )
        step_times, losses = train(loader, started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:COMPARED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
