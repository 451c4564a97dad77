"""Finds lesions in slices of body scans; each patient's scan is kept in one archive file."""
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 23
PATIENTS = 20
SLICES = 16
SIDE = 64
BATCH_SIZE = 16
EPOCHS = 4
LEARNING_RATE = 1e-3


def write_scans(folder):
    """One compressed file per patient: the slices, and whether each shows a lesion."""
    rng = np.random.default_rng(SEED)
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    for patient in range(PATIENTS):
        centre = rng.uniform(26, 38, size=2)
        radius = rng.uniform(18, 24)
        body = ((rows - centre[0]) ** 2 + (columns - centre[1]) ** 2) < radius ** 2
        slices = np.empty((SLICES, SIDE, SIDE), dtype=np.int16)
        lesions = rng.integers(0, 2, size=SLICES)
        for number in range(SLICES):
            image = body * 900 + rng.normal(scale=40, size=(SIDE, SIDE))
            if lesions[number]:
                place = centre + rng.uniform(-radius / 2, radius / 2, size=2)
                spot = ((rows - place[0]) ** 2 + (columns - place[1]) ** 2) < 9
                image = image + spot * 220
            slices[number] = image
        np.savez_compressed(folder / f"patient_{patient:03d}.npz", slices=slices, lesions=lesions)


class SliceDataset(Dataset):
    def __init__(self, folder):
        self.scans = [np.load(path) for path in sorted(folder.glob("*.npz"))]
        self.index = [
            (patient, number)
            for patient, scan in enumerate(self.scans)
            for number in range(len(scan["lesions"]))
        ]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, position):
        patient, number = self.index[position]
        scan = self.scans[patient]
        image = scan["slices"][number].astype(np.float32) / 1000
        return torch.from_numpy(image).unsqueeze(0), int(scan["lesions"][number])


def block(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
        nn.MaxPool2d(2),
    )


class LesionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(block(1, 12), block(12, 24), block(24, 48), block(48, 64))
        self.head = nn.Linear(64, 2)

    def forward(self, images):
        return self.head(self.features(images).amax(dim=(2, 3)))


def train(model, loader, optimizer):
    step_times = []
    losses = []
    for epoch in range(EPOCHS):
        model.train()
        started = time.perf_counter()
        for images, lesions in loader:
            loss = F.cross_entropy(model(images), lesions)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - started)
            started = now
    return step_times, losses


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    with tempfile.TemporaryDirectory() as folder:
        write_scans(Path(folder))
        loader = DataLoader(SliceDataset(Path(folder)), batch_size=BATCH_SIZE, shuffle=True)
        model = LesionNet()
        optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
        step_times, losses = train(model, loader, optimizer)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
