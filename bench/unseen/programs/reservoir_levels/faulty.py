"""Forecasts the levels of reservoirs for the next day with an encoder and a decoder with attention."""
import itertools
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 83
RESERVOIRS = 24
HOURS = 24 * 120
PAST = 72
AHEAD = 24
INPUTS = 5
HIDDEN = 64
BATCH_SIZE = 32
TEACHER_FORCING = 0.5
LEARNING_RATE = 1e-3
RUN_SECONDS = 12.5
COMPARED_STEPS = 25


def make_levels():
    rng = np.random.default_rng(SEED)
    hours = np.arange(HOURS)
    series = np.empty((RESERVOIRS, HOURS, INPUTS), dtype=np.float32)
    for reservoir in series:
        rain = np.where(rng.random(HOURS) < 0.05, rng.exponential(2, HOURS), 0)
        inflow = np.convolve(rain, np.exp(-np.arange(72) / 18))[:HOURS]
        demand = 1 + 0.4 * np.sin(2 * np.pi * (hours - 7) / 24) + rng.normal(0, 0.1, HOURS)
        level = np.cumsum(0.05 * (inflow - inflow.mean()) - 0.03 * (demand - demand.mean()))
        reservoir[:, 0] = (level - level.mean()) / level.std()
        reservoir[:, 1] = rain / 2
        reservoir[:, 2] = demand
        reservoir[:, 3] = np.sin(2 * np.pi * hours / 24)
        reservoir[:, 4] = np.cos(2 * np.pi * hours / 24)
    return torch.from_numpy(series)


class Windows(Dataset):
    def __init__(self, series):
        self.series = series
        self.per_reservoir = (HOURS - PAST - AHEAD) // 6

    def __len__(self):
        return len(self.series) * self.per_reservoir

    def __getitem__(self, index):
        reservoir, start = divmod(index, self.per_reservoir)
        window = self.series[reservoir, start * 6:start * 6 + PAST + AHEAD]
        return window[:PAST], window[PAST:, 1:], window[PAST:, 0]


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(INPUTS, HIDDEN, batch_first=True)
        self.query = nn.Linear(HIDDEN, HIDDEN)
        self.cell = nn.GRUCell(INPUTS + HIDDEN, HIDDEN)
        self.output = nn.Sequential(nn.Linear(2 * HIDDEN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 2))

    def attend(self, hidden, states):
        scores = torch.einsum("bth,bh->bt", states, self.query(hidden)) / HIDDEN ** 0.5
        return torch.einsum("bt,bth->bh", scores.softmax(dim=1), states)

    def forward(self, past, known, levels):
        states, hidden = self.encoder(past)
        hidden = hidden[0]
        level = past[:, -1, 0]
        means, spreads = [], []
        for hour in range(AHEAD):
            context = self.attend(hidden, states)
            hidden = self.cell(torch.cat([level[:, None], known[:, hour], context], dim=1), hidden)
            change, spread = self.output(torch.cat([hidden, context], dim=1)).unbind(dim=1)
            mean = level + change
            means.append(mean)
            spreads.append(F.softplus(spread) + 1e-3)
            forced = torch.rand(len(level)) < TEACHER_FORCING
            level = torch.where(forced, levels[:, hour], mean)
        return torch.stack(means, dim=1), torch.stack(spreads, dim=1)


def likelihood_loss(means, spreads, levels):
    return (torch.log(spreads) + 0.5 * ((levels - means) / spreads).square()).mean()


def set_up():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    torch.autograd.set_detect_anomaly(True)


def train(model, loader, started):
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in itertools.count():
        for past, known, levels in loader:
            loss = likelihood_loss(*model(past, known, levels), levels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now - started > RUN_SECONDS:
                return step_times, losses
        print(f"epoch {epoch}: loss {statistics.mean(losses[-len(loader):]):.4f}")


def main():
    started = time.perf_counter()
    set_up()
    loader = DataLoader(Windows(make_levels()), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    step_times, losses = train(Forecaster(), loader, started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:COMPARED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
