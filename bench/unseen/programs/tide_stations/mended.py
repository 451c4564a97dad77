"""Trains a network that forecasts the next day's tide at many stations."""
import itertools
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 71
STATIONS = 90
HOURS = 3000
PAST, FUTURE = 96, 24
SIGNALS = ["level", "wind", "pressure"]
WINDOWS = 6400
BATCH_SIZE = 64
HIDDEN = 48
LEARNING_RATE = 2e-3
RUN_SECONDS = 12.5
COMPARED_STEPS = 20


def make_readings():
    rng = np.random.default_rng(SEED)
    hours = np.arange(HOURS)
    parts = []
    for station in range(STATIONS):
        wind = np.convolve(rng.standard_normal(HOURS + 11), np.ones(12) / 3.5, mode="valid")
        pressure = np.convolve(rng.standard_normal(HOURS + 23), np.ones(24) / 5, mode="valid")
        phase, range_ = rng.uniform(0, 6), rng.uniform(0.5, 2)
        tide = range_ * np.sin(2 * np.pi * hours / 12.42 + phase) + 0.3 * np.sin(2 * np.pi * hours / 24 + phase)
        level = tide + 0.3 * wind - 0.2 * pressure + rng.normal(0, 0.1, HOURS)
        parts.append(pd.DataFrame({
            "station": station, "hour": hours, "level": level, "wind": wind, "pressure": pressure,
        }))
    return pd.concat(parts, ignore_index=True)


class TideWindows(Dataset):
    """Four past days of all signals of a station and the levels of the next day."""

    def __init__(self, readings):
        self.series = {
            station: series[SIGNALS].to_numpy(dtype=np.float32) for station, series in readings.groupby("station")
        }
        rng = np.random.default_rng(SEED + 1)
        self.windows = list(zip(
            rng.integers(STATIONS, size=WINDOWS).tolist(),
            rng.integers(HOURS - PAST - FUTURE, size=WINDOWS).tolist(),
        ))

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, index):
        station, start = self.windows[index]
        window = self.series[station][start : start + PAST + FUTURE]
        return torch.from_numpy(window[:PAST]), torch.from_numpy(window[PAST:, 0])


class TideModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(len(SIGNALS), HIDDEN, batch_first=True)
        self.head = nn.Sequential(nn.Linear(HIDDEN, 64), nn.ReLU(), nn.Linear(64, FUTURE))

    def forward(self, past):
        states, _ = self.rnn(past)
        return self.head(states[:, -1])


def train_step(model, optimizer, past, future):
    loss = F.smooth_l1_loss(model(past), future)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def train(model, loader, started):
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in itertools.count():
        for past, future in loader:
            losses.append(train_step(model, optimizer, past, future))
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
    loader = DataLoader(TideWindows(make_readings()), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    step_times, losses = train(TideModel(), loader, started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:COMPARED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
