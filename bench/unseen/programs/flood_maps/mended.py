"""Segments aerial photos after a flood into four kinds of ground, from masks painted in colours."""
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 83
PHOTOS = 96
SIZE = 160
BATCH_SIZE = 8
EPOCHS = 14
WORKERS = 1
COLOURS = np.array([
    [0, 0, 0], [61, 230, 250], [180, 120, 120], [235, 255, 7], [255, 184, 6], [160, 150, 20],
    [140, 140, 140], [4, 250, 7], [255, 235, 0], [255, 82, 0], [0, 102, 200], [112, 9, 255],
    [204, 70, 3], [0, 82, 255], [120, 120, 70], [8, 255, 51],
], dtype=np.uint8)
KINDS = np.array([0, 1, 2, 2, 3, 3, 2, 3, 2, 2, 1, 2, 3, 1, 3, 3])


def paint_photos(folder):
    """Patches of ground around random places, with a photo and a mask for each; saved as PNG."""
    rng = np.random.default_rng(SEED)
    looks = rng.uniform(40, 215, size=(len(COLOURS), 3))
    y, x = np.mgrid[:SIZE, :SIZE]
    for number in range(PHOTOS):
        places = rng.uniform(0, SIZE, size=(14, 2))
        colours = rng.integers(len(COLOURS), size=14)
        distance = np.hypot(y - places[:, 0, None, None], x - places[:, 1, None, None])
        painted = colours[distance.argmin(axis=0)]
        photo = looks[painted] + rng.normal(0, 25, size=(SIZE, SIZE, 3))
        Image.fromarray(photo.clip(0, 255).astype(np.uint8)).save(folder / f"{number:03d}_photo.png")
        Image.fromarray(COLOURS[painted]).save(folder / f"{number:03d}_mask.png")


class FloodDataset(Dataset):
    def __init__(self, folder):
        self.photos = sorted(folder.glob("*_photo.png"))
        self.masks = sorted(folder.glob("*_mask.png"))
        self.table = np.zeros(1 << 24, dtype=np.int64)
        red, green, blue = COLOURS.astype(np.int32).T
        self.table[(red << 16) | (green << 8) | blue] = KINDS

    def __len__(self):
        return len(self.photos)

    def classes_of(self, mask):
        red, green, blue = np.moveaxis(mask.astype(np.int32), -1, 0)
        return self.table[(red << 16) | (green << 8) | blue]

    def __getitem__(self, index):
        photo = np.asarray(Image.open(self.photos[index]).convert("RGB"), dtype=np.float32)
        mask = np.asarray(Image.open(self.masks[index]).convert("RGB"))
        photo = torch.from_numpy(photo / 127.5 - 1).permute(2, 0, 1)
        return photo, torch.from_numpy(self.classes_of(mask))


def convolution(inputs, outputs, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class GroundNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.fine = convolution(3, width, stride=2)
        self.middle = convolution(width, 2 * width, stride=2)
        self.coarse = nn.Sequential(
            convolution(2 * width, 4 * width, stride=2), convolution(4 * width, 2 * width)
        )
        self.join = convolution(4 * width, 2 * width)
        self.classifier = nn.Conv2d(2 * width, KINDS.max() + 1, 1)

    def forward(self, photos):
        middle = self.middle(self.fine(photos))
        coarse = F.interpolate(self.coarse(middle), size=middle.shape[2:], mode="nearest")
        scores = self.classifier(self.join(torch.cat([middle, coarse], dim=1)))
        return F.interpolate(scores, size=photos.shape[2:], mode="bilinear", align_corners=False)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    model = GroundNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    step_times = []
    losses = []
    with tempfile.TemporaryDirectory() as folder:
        paint_photos(Path(folder))
        loader = DataLoader(
            FloodDataset(Path(folder)), batch_size=BATCH_SIZE, shuffle=True, drop_last=True,
            num_workers=WORKERS, persistent_workers=True,
        )
        last = time.perf_counter()
        for epoch in range(EPOCHS):
            for photos, classes in loader:
                loss = F.cross_entropy(model(photos), classes)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                now = time.perf_counter()
                step_times.append(now - last)
                last = now
        del loader

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
