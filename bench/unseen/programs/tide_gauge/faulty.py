"""Trains a recurrent forecaster of harbour water levels on synthetic tide gauge records."""
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm
from torch.utils.data import DataLoader, Dataset

TRAIN_SECONDS = 11
STATIONS = 10
HISTORY = 48
AHEAD = 12
HIDDEN = 192
BATCH = 16
REPORT_EVERY = 50


def make_levels(hours, seed):
    """Water level (m) and pressure anomaly per station: harmonics, surge and noise."""
    generator = torch.Generator().manual_seed(seed)
    clock = torch.arange(hours, dtype=torch.float32)
    periods = torch.tensor([12.42, 12.00, 23.93, 25.82])
    amplitude = 0.3 + torch.rand(STATIONS, 4, generator=generator)
    phase = 2 * math.pi * torch.rand(STATIONS, 4, generator=generator)
    angle = 2 * math.pi * clock[:, None, None] / periods + phase
    tide = (amplitude * angle.cos()).sum(-1)
    pressure = torch.randn(hours, 1, generator=generator)
    kernel = torch.exp(-torch.arange(36.0) / 9)
    surge = F.conv1d(F.pad(pressure.T[None], (35, 0)), kernel.flip(0)[None, None])[0].T
    gain = 0.1 + 0.1 * torch.rand(STATIONS, generator=generator)
    noise = 0.05 * torch.randn(hours, STATIONS, generator=generator)
    return torch.cat([tide - gain * surge + noise, pressure], dim=1)


class GaugeWindows(Dataset):
    def __init__(self, record):
        self.record = (record - record.mean(0)) / record.std(0)

    def __len__(self):
        return len(self.record) - HISTORY - AHEAD

    def __getitem__(self, start):
        middle = start + HISTORY
        return self.record[start:middle], self.record[middle:middle + AHEAD, :STATIONS]


class TideForecaster(nn.Module):
    """Weight-normalised GRU encoder and decoder with a per-hour read-out."""

    def __init__(self):
        super().__init__()
        self.encoder = self.make_cell(STATIONS + 1)
        self.decoder = self.make_cell(STATIONS)
        self.read_out = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.SiLU(), nn.Linear(HIDDEN, STATIONS))

    @staticmethod
    def make_cell(inputs):
        cell = nn.GRUCell(inputs, HIDDEN)
        for name in ("weight_ih", "weight_hh"):
            weight_norm(cell, name)
        return cell

    def forward(self, history):
        state = history.new_zeros(len(history), HIDDEN)
        level = history[:, -1, :STATIONS]
        forecast = []
        for hour in range(history.shape[1]):
            state = self.encoder(history[:, hour], state)
        for _ in range(AHEAD):
            state = self.decoder(level, state)
            level = level + 0.1 * self.read_out(state)
            forecast.append(level)
        return torch.stack(forecast, dim=1)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4, foreach=True)
        self.lead_weight = torch.linspace(1.5, 0.5, AHEAD)[:, None]
        self.step = 0

    def train_step(self, history, future):
        forecast = self.model(history)
        loss = (self.lead_weight * F.smooth_l1_loss(forecast, future, reduction="none")).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return loss.item()


def describe(model):
    count = sum(p.numel() for p in model.parameters())
    normed = sum(parametrize.is_parametrized(m) for m in model.modules())
    print(f"{count} parameters, {normed} weight-normalised cells")


def endless(loader):
    while True:
        yield from loader


def main():
    torch.set_num_threads(2)
    torch.manual_seed(3)
    windows = GaugeWindows(make_levels(6000, 17))
    sampler = torch.Generator().manual_seed(5)
    batches = endless(DataLoader(windows, BATCH, shuffle=True, drop_last=True, generator=sampler))
    model = TideForecaster()
    describe(model)
    trainer = Trainer(model)
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        history, future = next(batches)
        losses.append(trainer.train_step(history, future))
        times.append((time.perf_counter() - began) * 1e3)
        if trainer.step % REPORT_EVERY == 0:
            print(f"step {trainer.step}: loss {statistics.mean(losses[-REPORT_EVERY:]):.4f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
