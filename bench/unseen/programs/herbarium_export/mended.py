"""Describes every sheet of a herbarium by a network and writes one file of predictions per sheet."""
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = 11
SHEETS = 2880
SPECIES = 40
SIZE = 64
BATCH_SIZE = 32


def make_sheets():
    """Grey leaves of different width and lobes on light paper; the species decides their shape."""
    rng = np.random.default_rng(SEED)
    species = rng.integers(SPECIES, size=SHEETS)
    y, x = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j].astype(np.float32)
    angle = np.arctan2(y, x)
    radius = np.hypot(x, y)
    sheets = np.empty((SHEETS, 1, SIZE, SIZE), dtype=np.uint8)
    for number, kind in enumerate(species):
        lobes = 2 + kind % 8
        outline = 0.5 + 0.06 * (kind // 8) * np.cos(lobes * angle + rng.uniform(0, 2 * np.pi))
        leaf = (radius < outline).astype(np.float32)
        paper = rng.normal(220, 8, size=(SIZE, SIZE))
        sheets[number, 0] = np.clip(paper - leaf * rng.uniform(90, 130), 0, 255)
    return sheets, species


class SheetDataset(Dataset):
    def __init__(self, sheets):
        self.sheets = sheets

    def __len__(self):
        return len(self.sheets)

    def __getitem__(self, index):
        return index, torch.from_numpy(self.sheets[index]).float() / 255


class SheetNet(nn.Module):
    """Gives the scores of the species and a coarse map of features for the search by looks."""

    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 5, stride=2, padding=2), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(),
            nn.Conv2d(2 * width, 5 * width, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.classifier = nn.Linear(5 * width, SPECIES)

    def forward(self, sheets):
        features = self.body(sheets)
        return self.classifier(features.mean(dim=(2, 3))), features


class Exporter:
    """Writes the description of each sheet to its own file, named by the number of the sheet."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def path(self, number):
        return self.folder / f"sheet_{number:05d}.pt"

    def write(self, numbers, scores, features):
        best = scores.argmax(dim=1)
        for row, number in enumerate(numbers.tolist()):
            description = {
                "sheet": number,
                "species": int(best[row]),
                "features": features[row].clone(),
            }
            torch.save(description, self.path(number))


def checksum(exporter):
    """Reads some of the files again to see that the export is complete."""
    total = 0.0
    for number in range(0, SHEETS, 7):
        description = torch.load(exporter.path(number))
        assert description["sheet"] == number
        total += float(description["features"].abs().mean()) + description["species"] / SPECIES
    return total


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    sheets, _ = make_sheets()
    loader = DataLoader(SheetDataset(sheets), batch_size=BATCH_SIZE)
    model = SheetNet().eval()

    step_times = []
    with tempfile.TemporaryDirectory() as folder:
        exporter = Exporter(folder)
        last = time.perf_counter()
        with torch.inference_mode():
            for numbers, batch in loader:
                scores, features = model(batch)
                exporter.write(numbers, scores, features)
                now = time.perf_counter()
                step_times.append(now - last)
                last = now
        result = checksum(exporter)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={result:.6f}")


if __name__ == "__main__":
    main()
