"""Forecasts the pressure of water pumps from the last hours of their sensors."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, SequentialSampler

SEED = 83
PUMPS = 10
MOMENTS = 5000
SENSORS = 6
WINDOW = 16
AHEAD = 4
BATCH_SIZE = 512
EPOCHS = 16


def make_readings():
    rng = np.random.default_rng(SEED)
    moments = np.arange(MOMENTS)
    demand = np.sin(2 * np.pi * moments / 144) + 0.4 * np.sin(2 * np.pi * moments / 1008)
    readings = np.empty((PUMPS, MOMENTS, SENSORS), dtype=np.float32)
    for pump in range(PUMPS):
        wear = np.cumsum(rng.normal(0, 0.01, size=MOMENTS))
        flow = demand * rng.uniform(0.7, 1.3) + rng.normal(0, 0.1, size=MOMENTS)
        pressure = 1.5 - 0.5 * flow ** 2 - 0.3 * wear + rng.normal(0, 0.05, size=MOMENTS)
        shake = np.abs(wear) + 0.2 * np.abs(flow) + rng.normal(0, 0.05, size=MOMENTS)
        heat = np.convolve(np.abs(flow), np.ones(24) / 24, mode="same")
        current = 0.8 * flow + 0.2 * wear + rng.normal(0, 0.05, size=MOMENTS)
        readings[pump] = np.stack([pressure, flow, shake, heat, current, demand], axis=1)
    middle = readings.mean(axis=(0, 1))
    deviation = readings.std(axis=(0, 1))
    return (readings - middle) / deviation


class WindowDataset(Dataset):
    def __init__(self, readings):
        self.readings = torch.from_numpy(readings).contiguous()
        self.starts = readings.shape[1] - WINDOW - AHEAD + 1

    def __len__(self):
        return len(self.readings) * self.starts

    def __getitem__(self, indices):
        indices = torch.tensor(indices)
        pumps, starts = (indices // self.starts).unsqueeze(1), (indices % self.starts).unsqueeze(1)
        windows = self.readings[pumps, starts + torch.arange(WINDOW)]
        targets = self.readings[pumps, starts + WINDOW + AHEAD - 1, 0].squeeze(1)
        return windows, targets


def make_loader(readings, shuffle):
    dataset = WindowDataset(readings)
    order = RandomSampler(dataset) if shuffle else SequentialSampler(dataset)
    batches = BatchSampler(order, BATCH_SIZE, drop_last=False)
    return DataLoader(dataset, sampler=batches, batch_size=None)


class PressureNet(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(SENSORS * WINDOW, width), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, windows):
        return windows[:, -1, 0] + self.layers(windows).squeeze(1)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    squares, count = 0.0, 0
    for windows, targets in loader:
        squares += F.mse_loss(model(windows), targets, reduction="sum").item()
        count += len(targets)
    return (squares / count) ** 0.5


def main():
    torch.manual_seed(SEED)
    readings = make_readings()
    train_loader = make_loader(readings[:, :4000], shuffle=True)
    check_loader = make_loader(readings[:, 4000:], shuffle=False)
    model = PressureNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    step_times, epoch_times = [], []
    for epoch in range(EPOCHS):
        model.train()
        began = last = time.perf_counter()
        total = 0.0
        for windows, targets in train_loader:
            loss = F.smooth_l1_loss(model(windows), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
        error = evaluate(model, check_loader)
        epoch_times.append(time.perf_counter() - began)
        print(f"epoch {epoch}: loss {total / len(train_loader):.5f}, error {error:.5f}")

    print(f"epoch_ms={statistics.median(epoch_times) * 1000:.2f}")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={error:.6f}")


if __name__ == "__main__":
    main()
