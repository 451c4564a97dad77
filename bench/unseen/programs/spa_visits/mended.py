"""Forecasts the visitors of a spa for the next two days, as a fan of quantiles for each hour."""
import statistics
import time

import numpy as np
import torch
from torch import nn

SEED = 73
HOURS = 24 * 600
LOOKBACK = 72
HORIZON = 48
BATCH_SIZE = 256
HIDDEN = 64
STEPS = 150
LEARNING_RATE = 1e-3
LEVELS = [percent / 100 for percent in range(1, 100)]


def make_series():
    rng = np.random.default_rng(SEED)
    hours = np.arange(HOURS)
    day_shape = np.exp(-((hours % 24 - 15) / 4.5) ** 2)
    week_shape = 1 + 0.5 * (hours // 24 % 7 >= 5)
    warmth = 12 - 9 * np.cos(2 * np.pi * hours / 8760) + np.repeat(rng.normal(0, 3, HOURS // 24), 24)
    visits = rng.poisson(np.clip(120 - 2.5 * warmth, 10, None) * day_shape * week_shape)
    columns = np.stack([
        (visits - visits.mean()) / visits.std(),
        (warmth - warmth.mean()) / warmth.std(),
        np.sin(2 * np.pi * hours / 24),
        np.cos(2 * np.pi * hours / 24),
        (hours // 24 % 7 >= 5).astype(float),
    ], axis=1)
    return torch.tensor(columns, dtype=torch.float32)


class Windows:
    def __init__(self, series):
        self.windows = series.unfold(0, LOOKBACK + HORIZON, 1).transpose(1, 2)

    def draw(self):
        starts = torch.randint(len(self.windows), (BATCH_SIZE,))
        window = self.windows[starts]
        return window[:, :LOOKBACK], window[:, LOOKBACK:, 1:], window[:, LOOKBACK:, 0]


class FanModel(nn.Module):
    def __init__(self, inputs, levels):
        super().__init__()
        self.encoder = nn.GRU(inputs, HIDDEN, batch_first=True)
        self.known = nn.Linear(inputs - 1, HIDDEN)
        self.decoder = nn.Sequential(
            nn.Linear(2 * HIDDEN, 2 * HIDDEN), nn.ReLU(), nn.Linear(2 * HIDDEN, levels)
        )

    def forward(self, past, known):
        _, state = self.encoder(past)
        state = state[-1].unsqueeze(1).expand(-1, known.shape[1], -1)
        return self.decoder(torch.cat([state, self.known(known)], dim=2))


class PinballLoss(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.register_buffer("levels", torch.tensor(levels))

    def forward(self, prediction, target):
        error = target.unsqueeze(2) - prediction
        return torch.max(self.levels * error, (self.levels - 1) * error).mean()


class Trainer:
    def __init__(self, model, loss):
        self.model = model
        self.loss = loss
        self.optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    def step(self, past, known, target):
        loss = self.loss(self.model(past, known), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    series = make_series()
    windows = Windows(series)
    trainer = Trainer(FanModel(series.shape[1], len(LEVELS)), PinballLoss(LEVELS))

    step_times = []
    losses = []
    last = time.perf_counter()
    for step in range(STEPS):
        losses.append(trainer.step(*windows.draw()))
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
