"""Forecasts the heat demand of a town's districts for the next day with a temporal convolution net."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

SEED = 63
DISTRICTS = 24
HOURS = 24 * 400
LOOKBACK = 168
HORIZON = 24
CHANNELS = 80
KERNEL = 3
DILATIONS = (1, 2, 4, 8)
QUANTILES = (0.1, 0.5, 0.9)
BATCH_SIZE = 64
STEPS = 160
LEARNING_RATE = 2e-3


def make_demand():
    """Hourly demand: colder weather, the time of day and the day of the week drive it."""
    rng = np.random.default_rng(SEED)
    hours = pd.date_range("2022-09-01", periods=HOURS, freq="h")
    weather = 9 - 10 * np.cos(2 * np.pi * (hours.day_of_year.to_numpy() - 200) / 365 + np.pi)
    weather = weather + np.convolve(rng.normal(0, 2.5, HOURS + 71), np.ones(72) / 8, "valid")
    clock = hours.hour.to_numpy()
    frame = pd.DataFrame(index=hours)
    frame["temperature"] = weather + 3 * np.sin(2 * np.pi * (clock - 9) / 24)
    frame["hour_sin"] = np.sin(2 * np.pi * clock / 24)
    frame["hour_cos"] = np.cos(2 * np.pi * clock / 24)
    frame["weekend"] = (hours.day_of_week.to_numpy() >= 5).astype(float)
    need = np.maximum(17 - frame["temperature"].to_numpy(), 1)
    demand = np.empty((DISTRICTS, HOURS))
    for district in range(DISTRICTS):
        size, morning, rest = rng.uniform(0.5, 3), rng.uniform(0.2, 0.6), rng.uniform(0.7, 1)
        daily = 1 + morning * np.sin(2 * np.pi * (clock - 2) / 12)
        weekly = np.where(frame["weekend"], rest, 1)
        demand[district] = size * need * daily * weekly * np.exp(rng.normal(0, 0.08, HOURS))
    return frame, demand


def standardize(values, axis):
    return (values - values.mean(axis=axis, keepdims=True)) / values.std(axis=axis, keepdims=True)


class CausalBlock(nn.Module):
    """Two dilated convolutions that look only back in time, with a residual connection."""

    def __init__(self, inputs, outputs, dilation):
        super().__init__()
        self.padding = (KERNEL - 1) * dilation
        self.first = nn.Conv1d(inputs, outputs, KERNEL, dilation=dilation)
        self.second = nn.Conv1d(outputs, outputs, KERNEL, dilation=dilation)
        self.skip = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x):
        hidden = F.relu(self.first(F.pad(x, (self.padding, 0))))
        hidden = F.relu(self.second(F.pad(hidden, (self.padding, 0))))
        return F.relu(hidden + self.skip(x))


class DemandTCN(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        widths = [inputs] + [CHANNELS] * len(DILATIONS)
        self.blocks = nn.Sequential(
            *(CausalBlock(widths[i], widths[i + 1], d) for i, d in enumerate(DILATIONS))
        )
        self.receptive_field = 1 + 2 * (KERNEL - 1) * sum(DILATIONS)
        self.head = nn.Linear(CHANNELS, HORIZON * len(QUANTILES))

    def forward(self, history):
        features = self.blocks(history[:, :, -self.receptive_field:])
        return self.head(features[:, :, -1]).unflatten(1, (HORIZON, len(QUANTILES)))


def quantile_loss(forecast, target, quantiles):
    error = target.unsqueeze(2) - forecast
    return torch.maximum(quantiles * error, (quantiles - 1) * error).mean()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED + 1)
    weather, demand = make_demand()
    known = torch.from_numpy(standardize(weather.to_numpy().T, 1)).float()
    demand = torch.from_numpy(standardize(np.log(demand), 1)).float()
    quantiles = torch.tensor(QUANTILES)
    model = DemandTCN(1 + len(known))
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    last = time.perf_counter()
    for step in range(STEPS):
        districts = rng.integers(DISTRICTS, size=BATCH_SIZE)
        starts = rng.integers(HOURS - LOOKBACK - HORIZON, size=BATCH_SIZE)
        history, target = [], []
        for district, start in zip(districts, starts):
            now = start + LOOKBACK
            history.append(torch.cat([demand[district, None, start:now], known[:, start:now]]))
            target.append(demand[district, now:now + HORIZON])
        loss = quantile_loss(model(torch.stack(history)), torch.stack(target), quantiles)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        moment = time.perf_counter()
        step_times.append(moment - last)
        last = moment

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-20:]):.6f}")


if __name__ == "__main__":
    main()
