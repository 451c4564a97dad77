"""Trains a recurrent network that forecasts the level of rivers from gauges with gaps in their records."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 855
GAUGES = 60
HOURS = 5000
WINDOW = 240
INPUTS = 4
HIDDEN = 96
BATCH_SIZE = 96
LEARNING_RATE = 2e-3
TRAIN_SECONDS = 11.5
REPORTED_STEPS = 8


def record_gauges():
    """Measurements (gauge, hour, input) with gaps, their mask, and the level an hour later."""
    rng = np.random.default_rng(SEED)
    rain = rng.gamma(0.3, 2.0, size=(GAUGES, HOURS)) * (rng.random((GAUGES, HOURS)) < 0.15)
    storage = np.zeros(GAUGES)
    level = np.empty((GAUGES, HOURS))
    drain = rng.uniform(0.02, 0.08, size=GAUGES)
    for hour in range(HOURS):
        storage = storage * (1 - drain) + rain[:, hour]
        level[:, hour] = np.log1p(storage)
    hours = np.arange(HOURS)
    daily = np.broadcast_to(np.sin(2 * np.pi * hours / 24), (GAUGES, HOURS))
    yearly = np.broadcast_to(np.cos(2 * np.pi * hours / 8760), (GAUGES, HOURS))
    measured = level + rng.normal(0, 0.05, size=level.shape)
    values = np.stack([measured, rain, daily, yearly], axis=2)
    mask = (rng.random(values.shape) > 0.2).astype(np.float32)
    values = np.where(mask > 0, values, 0)
    return (
        torch.from_numpy(values).float(),
        torch.from_numpy(mask),
        torch.from_numpy(level).float(),
    )


class DecayCell(nn.Module):
    """Gated unit whose state fades with the hours since an input was last measured."""

    def __init__(self):
        super().__init__()
        self.fade = nn.Linear(INPUTS, HIDDEN)
        self.from_input = nn.Linear(2 * INPUTS, 3 * HIDDEN)
        self.from_state = nn.Linear(HIDDEN, 3 * HIDDEN)

    def forward(self, values, mask, missing, state):
        state = state * torch.exp(-F.relu(self.fade(missing)))
        reset_x, update_x, new_x = self.from_input(torch.cat([values, mask], dim=1)).chunk(3, dim=1)
        reset_h, update_h, new_h = self.from_state(state).chunk(3, dim=1)
        update = torch.sigmoid(update_x + update_h)
        candidate = torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h)
        return torch.lerp(candidate, state, update)


class GaugeModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = DecayCell()
        self.head = nn.Sequential(nn.Linear(HIDDEN, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, values, mask):
        batch, steps, _ = values.shape
        state = values.new_zeros(batch, HIDDEN)
        missing = values.new_zeros(batch, INPUTS)
        last = torch.zeros_like(missing)
        states = values.new_zeros(batch, steps, HIDDEN)
        for step in range(steps):
            seen = mask[:, step]
            last = torch.where(seen > 0, values[:, step], last)
            state = self.cell(last, seen, missing, state)
            missing = (missing + 0.1) * (1 - seen)
            states[:, step] = state
        return self.head(states).squeeze(2)


class Windows:
    """Batches of windows that begin at a random hour of a random gauge."""

    def __init__(self, values, mask, level):
        self.values = values
        self.mask = mask
        self.level = level
        self.generator = torch.Generator().manual_seed(SEED)

    def batch(self):
        gauges = torch.randint(GAUGES, (BATCH_SIZE, 1), generator=self.generator)
        starts = torch.randint(HOURS - WINDOW - 1, (BATCH_SIZE, 1), generator=self.generator)
        hours = starts + torch.arange(WINDOW)
        return self.values[gauges, hours], self.mask[gauges, hours], self.level[gauges, hours + 1]


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    windows = Windows(*record_gauges())
    model = GaugeModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times, losses = [], []
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        values, mask, level = windows.batch()
        loss = F.smooth_l1_loss(model(values, mask), level)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"{len(losses)} steps, last losses {statistics.mean(losses[-10:]):.4f}")
    print(f"step_ms={statistics.median(step_times[2:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
