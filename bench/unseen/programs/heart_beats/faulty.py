"""Classifies heart beats in recordings of an electrocardiograph."""
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 27
PATIENTS = 10
BEATS_PER_PATIENT = 64
SAMPLES = 3600
KINDS = ["normal", "early", "wide", "inverted"]
BATCH_SIZE = 16
EPOCHS = 2
LEARNING_RATE = 1e-3


def make_beat(kind, rng):
    moments = np.linspace(-1, 1, SAMPLES)
    centre = rng.normal(scale=0.03) - (0.35 if kind == "early" else 0.0)
    width = 0.12 if kind == "wide" else 0.04
    sign = -1.0 if kind == "inverted" else 1.0
    beat = sign * np.exp(-((moments - centre) ** 2) / width ** 2)
    beat += 0.3 * np.exp(-((moments - centre - 0.5) ** 2) / 0.02)
    beat += 0.1 * np.sin(3 * moments + rng.uniform(0, 6)) + rng.normal(scale=0.15, size=SAMPLES)
    return [round(float(value), 4) for value in beat]


def write_recordings(folder):
    """One JSON file per patient with the patient's beats."""
    rng = np.random.default_rng(SEED)
    for patient in range(PATIENTS):
        kinds = rng.integers(0, len(KINDS), size=BEATS_PER_PATIENT)
        beats = [{"kind": KINDS[k], "signal": make_beat(KINDS[k], rng)} for k in kinds]
        path = Path(folder) / f"patient_{patient:03d}.json"
        path.write_text(json.dumps({"patient": patient, "beats": beats}))


class BeatDataset(Dataset):
    def __init__(self, folder):
        self.signals = []
        self.labels = []
        for path in sorted(Path(folder).glob("*.json")):
            for beat in json.loads(path.read_text())["beats"]:
                self.signals.append(beat["signal"])
                self.labels.append(KINDS.index(beat["kind"]))

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        return {"signal": self.signals[index], "label": self.labels[index]}


class BeatNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 15, stride=4, padding=7)
        self.conv2 = nn.Conv1d(16, 32, 7, stride=2, padding=3)
        self.conv3 = nn.Conv1d(32, 64, 5, padding=2)
        self.norm1 = nn.BatchNorm1d(16)
        self.norm2 = nn.BatchNorm1d(32)
        self.norm3 = nn.BatchNorm1d(64)
        self.head = nn.Linear(64, len(KINDS))

    def forward(self, signals):
        x = F.relu(self.norm1(self.conv1(signals.unsqueeze(1))))
        x = F.relu(self.norm2(self.conv2(x)))
        x = F.relu(self.norm3(self.conv3(x)))
        return self.head(x.mean(dim=2))


def train(dataset):
    torch.manual_seed(SEED)
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True)
    model = BeatNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for batch in loader:
            signals = torch.stack(batch["signal"], dim=1).float()
            loss = F.cross_entropy(model(signals), batch["label"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
    return step_times, losses


def main():
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        write_recordings(folder)
        step_times, losses = train(BeatDataset(folder))
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
