"""Tells plant leaves apart by their shape and pattern on phone photos."""
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageEnhance, ImageOps
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 11
KINDS = 6
PHOTOS = 288
PHOTO_SIZE = (400, 300)
IMAGE_SIZE = 96
BATCH_SIZE = 32
EPOCHS = 6
LEARNING_RATE = 0.003


def draw_leaf(rng, kind):
    ground = rng.integers(60, 200, size=(30, 40, 3), dtype=np.uint8)
    photo = Image.fromarray(ground).resize(PHOTO_SIZE, Image.BILINEAR)
    pen = ImageDraw.Draw(photo)
    x, y = rng.uniform(150, 250), rng.uniform(110, 190)
    length, width = rng.uniform(70, 110), 25 + 12 * (kind % 3)
    green = (int(rng.integers(20, 80)), int(rng.integers(100, 180)), 40)
    pen.ellipse((x - length, y - width, x + length, y + width), fill=green)
    if kind >= 3:
        for offset in np.linspace(-0.7, 0.7, 6):
            pen.line((x + offset * length, y, x + offset * length + 20, y - width),
                     fill=(220, 230, 150), width=4)
    return photo


def make_photos(folder):
    rng = np.random.default_rng(SEED)
    entries = []
    for number in range(PHOTOS):
        kind = number % KINDS
        path = folder / f"leaf_{number:04d}.jpg"
        draw_leaf(rng, kind).save(path, quality=90)
        entries.append((path, kind))
    return entries


class LeafPhotos(Dataset):
    def __init__(self, entries):
        self.entries = entries

    def __len__(self):
        return len(self.entries)

    def vary(self, photo):
        if random.random() < 0.5:
            photo = ImageOps.mirror(photo)
        photo = photo.rotate(random.uniform(-30, 30), resample=Image.BICUBIC)
        photo = ImageEnhance.Brightness(photo).enhance(random.uniform(0.8, 1.2))
        photo = ImageEnhance.Contrast(photo).enhance(random.uniform(0.8, 1.2))
        return ImageEnhance.Color(photo).enhance(random.uniform(0.8, 1.2))

    def __getitem__(self, index):
        path, kind = self.entries[index]
        with Image.open(path) as file:
            photo = file.convert("RGB")
        photo = self.vary(photo)
        photo = photo.resize((IMAGE_SIZE, IMAGE_SIZE), Image.BILINEAR)
        pixels = np.asarray(photo, dtype=np.float32) / 255 - 0.5
        return torch.from_numpy(pixels.transpose(2, 0, 1).copy()), kind


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        before = 3
        for channels in (16, 32, 64):
            layers += [nn.Conv2d(before, channels, 3, padding=1, bias=False),
                       nn.BatchNorm2d(channels), nn.ReLU(), nn.MaxPool2d(2)]
            before = channels
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(before, KINDS)

    def forward(self, images):
        return self.head(self.features(images).mean(dim=(2, 3)))


def seed_worker(worker):
    random.seed(torch.initial_seed() % 2**32)


def main():
    torch.manual_seed(SEED)
    with tempfile.TemporaryDirectory() as name:
        entries = make_photos(Path(name))
        loader = DataLoader(LeafPhotos(entries), batch_size=BATCH_SIZE, shuffle=True,
                            num_workers=2, persistent_workers=True,
                            worker_init_fn=seed_worker)
        model = LeafNet()
        optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
        epoch_times = []
        for epoch in range(EPOCHS):
            start = time.perf_counter()
            losses = []
            for images, kinds in loader:
                loss = F.cross_entropy(model(images), kinds)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            epoch_times.append((time.perf_counter() - start) / len(loader))
            print(f"epoch {epoch + 1}: loss {statistics.mean(losses):.4f}")

    print(f"step_ms={statistics.median(epoch_times[1:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses):.6f}")


if __name__ == "__main__":
    main()
