"""Estimates the load on a bridge from the vibrations that its sensors record."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 6
SENSORS = 6
SAMPLES_PER_SECOND = 100
SECONDS = 5
RECORDINGS = 2560
BATCH_SIZE = 64
EPOCHS = 2
LEARNING_RATE = 1e-3


def make_recordings():
    """Vibrations of all sensors while a vehicle crosses; heavier vehicles make the bridge swing slower."""
    rng = np.random.default_rng(SEED)
    moments = np.linspace(0, SECONDS, SECONDS * SAMPLES_PER_SECOND)
    places = np.linspace(0.1, 0.9, SENSORS)[:, None]
    recordings = np.empty((RECORDINGS, SENSORS, len(moments)))
    loads = rng.uniform(2, 40, size=RECORDINGS)
    for number, load in enumerate(loads):
        speed = rng.uniform(0.15, 0.3)
        passing = np.exp(-((speed * moments - places) ** 2) / 0.02)
        frequency = 3.2 / np.sqrt(1 + load / 60)
        swing = np.sin(np.pi * places) * np.sin(2 * np.pi * frequency * moments + rng.uniform(0, 6))
        recordings[number] = 0.03 * load * passing + (0.3 + passing) * swing
        recordings[number] += rng.normal(scale=0.2, size=recordings[number].shape)
    return recordings, loads


def standardize(recordings):
    """Give every sensor mean 0 and deviation 1."""
    mean = recordings.mean(axis=(0, 2), keepdims=True)
    deviation = recordings.std(axis=(0, 2), keepdims=True)
    return (recordings - mean) / deviation


class ConvBlock(nn.Module):
    def __init__(self, inputs, outputs, kernel):
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, kernel, padding=kernel // 2)
        self.norm = nn.GroupNorm(4, outputs)
        self.pool = nn.AvgPool1d(2)

    def forward(self, x):
        return self.pool(F.gelu(self.norm(self.conv(x))))


class LoadNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(
            ConvBlock(SENSORS, 32, 9),
            ConvBlock(32, 48, 7),
            ConvBlock(48, 64, 5),
        )
        self.head = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))

    def forward(self, vibrations):
        features = self.blocks(vibrations).mean(dim=2)
        return self.head(features).squeeze(1)


def train(model, loader):
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for vibrations, loads in loader:
            loss = F.smooth_l1_loss(model(vibrations), loads)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
        print(f"epoch {epoch + 1}: loss {statistics.mean(losses[-len(loader):]):.4f}")
    return step_times, losses


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    recordings, loads = make_recordings()
    vibrations = torch.from_numpy(standardize(recordings))
    loads = torch.from_numpy(loads / 10)
    loader = DataLoader(TensorDataset(vibrations, loads), batch_size=BATCH_SIZE, shuffle=True)
    model = LoadNet().double()
    step_times, losses = train(model, loader)
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
