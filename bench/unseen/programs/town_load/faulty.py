"""Day-ahead electricity load forecasting with an antisymmetric recurrent network."""
import math
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn.utils import parametrize

TRAIN_SECONDS = 11
BATCH = 24
HISTORY = 72
HORIZON = 24
NUM_FEEDERS = 6
HIDDEN = 160


def make_load_table(hours=6000, seed=4):
    rng = np.random.default_rng(seed)
    index = pd.date_range("2021-01-01", periods=hours, freq="h")
    hour = index.hour.to_numpy()
    weekend = (index.day_of_week.to_numpy() >= 5).astype(float)
    temperature = 10 + 8 * np.sin(2 * math.pi * np.arange(hours) / 8760) + rng.normal(0, 1.5, hours)
    table = pd.DataFrame({
        "hour_sin": np.sin(2 * math.pi * hour / 24),
        "hour_cos": np.cos(2 * math.pi * hour / 24),
        "weekend": weekend,
        "temperature": (temperature - 10) / 8,
    }, index=index)
    for feeder in range(NUM_FEEDERS):
        peak = rng.uniform(7, 20)
        shape = np.cos(2 * math.pi * (hour - peak) / 24)
        noise = pd.Series(rng.normal(0, 0.3, hours)).ewm(alpha=0.3).mean().to_numpy()
        table[f"load_{feeder}"] = shape * (1 - 0.4 * weekend) - 0.2 * table["temperature"] + noise
    return table


class LoadWindows:
    """Serves (history, future) batches out of one float32 array."""

    def __init__(self, table, seed):
        self.values = torch.from_numpy(table.to_numpy(dtype=np.float32))
        self.span = torch.arange(HISTORY + HORIZON)
        self.last_start = len(table) - HISTORY - HORIZON
        self.gen = torch.Generator().manual_seed(seed)

    def batch(self, size):
        starts = torch.randint(0, self.last_start, (size, 1), generator=self.gen)
        window = self.values[starts + self.span]
        return window[:, :HISTORY], window[:, HISTORY:, -NUM_FEEDERS:]


class Antisymmetric(nn.Module):
    """Maps a square matrix to A - A^T - damping * I (stable recurrent dynamics)."""

    def __init__(self, size, damping=0.01):
        super().__init__()
        self.register_buffer("shift", damping * torch.eye(size))

    def forward(self, matrix):
        upper = matrix.triu(1)
        return upper - upper.transpose(-1, -2) - self.shift


class StableMemory(nn.Module):
    """Gated antisymmetric recurrence: gate and candidate share one kernel."""

    def __init__(self, inputs, hidden, step=0.1):
        super().__init__()
        self.hidden = hidden
        self.step = step
        self.from_input = nn.Linear(inputs, 2 * hidden)
        self.recurrent = nn.Linear(hidden, hidden, bias=False)
        parametrize.register_parametrization(self.recurrent, "weight", Antisymmetric(hidden))

    def forward(self, series):
        projected = self.from_input(series)
        state = series.new_zeros(series.shape[0], self.hidden)
        for in_gate, in_state in (p.chunk(2, dim=-1) for p in projected.unbind(dim=1)):
            mixed = self.recurrent(state)
            gate = torch.sigmoid(in_gate + mixed)
            state = state + self.step * gate * torch.tanh(in_state + mixed)
        return state


class LoadForecaster(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.memory = StableMemory(features, HIDDEN)
        self.readout = nn.Sequential(
            nn.Linear(HIDDEN, 256),
            nn.GELU(),
            nn.Linear(256, HORIZON * NUM_FEEDERS),
        )

    def forward(self, history):
        summary = self.memory(history)
        return self.readout(summary).view(-1, HORIZON, NUM_FEEDERS)


def train_step(model, optimizer, history, future):
    optimizer.zero_grad()
    forecast = model(history)
    loss = nn.functional.huber_loss(forecast, future)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(21)
    table = make_load_table()
    windows = LoadWindows(table, seed=8)
    model = LoadForecaster(table.shape[1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        begin = time.perf_counter()
        history, future = windows.batch(BATCH)
        losses.append(train_step(model, optimizer, history, future))
        times.append(time.perf_counter() - begin)

    print(f"steps={len(times)} last_loss={losses[-1]:.4f}")
    print(f"step_ms={statistics.median(times[3:]) * 1000:.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
