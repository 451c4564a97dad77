"""Forecasts load, price and solar output of a region from the past three days of hourly data."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 17
HOURS = 9000
HISTORY = 72
HORIZON = 24
CHANNELS = 3
HIDDEN = 96
BATCH_SIZE = 40
STEPS = 60
LEARNING_RATE = 2e-3


def make_series():
    """Standardised hourly load, price and solar output with daily and weekly cycles."""
    rng = np.random.default_rng(SEED)
    hours = np.arange(HOURS)
    weather = np.cumsum(rng.normal(scale=0.05, size=HOURS))
    weather -= np.convolve(weather, np.ones(240) / 240, mode="same")
    sun = np.clip(np.sin(2 * np.pi * (hours - 6) / 24), 0, None) * (1 + 0.4 * weather)
    load = 3 + np.sin(2 * np.pi * (hours - 9) / 24) + 0.5 * np.sin(2 * np.pi * hours / 168) - 0.3 * weather
    price = load - sun + rng.normal(scale=0.2, size=HOURS)
    series = np.stack([load, price, sun], axis=1)
    series = (series - series.mean(axis=0)) / series.std(axis=0)
    return torch.from_numpy(series.astype(np.float32))


def sample_windows(series, generator):
    starts = torch.randint(HOURS - HISTORY - HORIZON, (BATCH_SIZE,), generator=generator)
    windows = series[starts.unsqueeze(1) + torch.arange(HISTORY + HORIZON)]
    return windows[:, :HISTORY], windows[:, HISTORY:]


class RegionForecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.GRU(CHANNELS, HIDDEN, num_layers=2, batch_first=True)
        self.load = self.output()
        self.price = self.output()
        self.solar = self.output()

    @staticmethod
    def output():
        return nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HORIZON))

    def forward(self, history):
        _, last = self.memory(history)
        state = last[-1]
        return self.load(state), self.price(state), self.solar(state).relu()


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
        self.weights = {"load": 1.0, "price": 0.5, "solar": 0.5}

    def losses(self, history, future):
        load, price, solar = self.model(history)
        future_load, future_price, future_solar = future.unbind(dim=2)
        return {
            "load": F.mse_loss(load, future_load),
            "price": F.smooth_l1_loss(price, future_price),
            "solar": F.l1_loss(solar, future_solar),
        }

    def step(self, history, future):
        losses = self.losses(history, future)
        self.optimizer.zero_grad()
        for name, loss in losses.items():
            (self.weights[name] * loss).backward(retain_graph=True)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return {name: loss.item() for name, loss in losses.items()}


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    series = make_series()
    generator = torch.Generator().manual_seed(SEED)
    trainer = Trainer(RegionForecaster())

    step_times = []
    totals = []
    for step in range(STEPS):
        started = time.perf_counter()
        history, future = sample_windows(series, generator)
        losses = trainer.step(history, future)
        step_times.append(time.perf_counter() - started)
        totals.append(sum(losses.values()))

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(totals[-10:]):.6f}")


if __name__ == "__main__":
    main()
