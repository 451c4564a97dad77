"""A small residual network that learns from image files, for `stepscope tune -- python examples/tune/resnet.py`.

Writes 256 images into a temporary folder first. Needs torch, numpy and Pillow.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

IMAGES, CLASSES, BATCH, EPOCHS = 256, 10, 16, 50


def write_images(folder: Path) -> None:
    numbers = np.random.default_rng(0)
    for number in range(IMAGES):
        small = Image.fromarray(numbers.integers(0, 255, (24, 32, 3), dtype=np.uint8))
        small.resize((512, 384), Image.Resampling.BICUBIC).save(folder / f"{number:04}.jpg", quality=90)


class ImageFiles(Dataset[tuple[torch.Tensor, int]]):
    """Images (3, 64, 64), cut out at random places and mirrored at random, and their classes."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(folder.glob("*.jpg"))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        with Image.open(self.paths[index]) as file:
            image = np.asarray(file.convert("RGB").resize((96, 72)))
        top, left = (int(torch.randint(0, most, ())) for most in (72 - 64, 96 - 64))
        image = image[top : top + 64, left : left + 64]
        if torch.rand(()) < 0.5:
            image = image[:, ::-1]
        return torch.from_numpy(image.copy()).permute(2, 0, 1) / 255, index % CLASSES


class Block(nn.Module):
    """Two convolutions, and the input added to what they make."""

    def __init__(self, given: int, made: int, stride: int) -> None:
        super().__init__()
        self.one = nn.Sequential(nn.Conv2d(given, made, 3, stride, 1, bias=False), nn.BatchNorm2d(made), nn.ReLU())
        self.two = nn.Sequential(nn.Conv2d(made, made, 3, 1, 1, bias=False), nn.BatchNorm2d(made))
        self.short = nn.Identity() if given == made else nn.Conv2d(given, made, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.two(self.one(x)) + self.short(x))


def resnet() -> nn.Module:
    blocks = [Block(8, 8, 1), Block(8, 16, 2), Block(16, 32, 2)]
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, CLASSES))
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), *blocks, head)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        write_images(Path(folder))
        loader = DataLoader(ImageFiles(Path(folder)), batch_size=BATCH, shuffle=True)
        model = resnet()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        for _ in range(EPOCHS):
            for images, classes in loader:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(images), classes).backward()
                optimizer.step()


if __name__ == "__main__":
    main()
