"""Predicts the yield of a kiln from its settings with a deep, narrow network."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 37
FIRINGS = 8000
SETTINGS = 24
WIDTH = 32
BLOCKS = 40
BATCH_SIZE = 128
STEPS = 120
RIDGE = 1e-4
LEARNING_RATE = 0.01


def make_firings():
    """Settings of firings and a yield that depends on them in a curved way."""
    rng = np.random.default_rng(SEED)
    settings = rng.normal(size=(FIRINGS, SETTINGS))
    directions = rng.normal(size=(SETTINGS, 6)) / np.sqrt(SETTINGS)
    parts = settings @ directions
    outcome = np.sin(2 * parts[:, 0]) + parts[:, 1] * parts[:, 2] - np.abs(parts[:, 3]) + 0.5 * parts[:, 4]
    outcome = outcome + rng.normal(scale=0.1, size=FIRINGS)
    outcome = (outcome - outcome.mean()) / outcome.std()
    return (
        torch.from_numpy(settings.astype(np.float32)),
        torch.from_numpy(outcome.astype(np.float32)),
    )


class Stage(nn.Module):
    """One of many small steps that each correct the features a little."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.first = nn.Linear(WIDTH, WIDTH)
        self.second = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + 0.2 * self.second(torch.tanh(self.first(self.norm(x))))


class KilnModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(SETTINGS, WIDTH)
        self.stages = nn.ModuleList(Stage() for _ in range(BLOCKS))
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, settings):
        x = self.enter(settings)
        for stage in self.stages:
            x = stage(x)
        return self.head(x).squeeze(1)


def batches(count, size):
    """Endless index batches, shuffled anew after each pass over the firings."""
    while True:
        yield from torch.randperm(count).split(size)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    settings, outcome = make_firings()
    model = KilnModel()
    optimizer = torch.optim.SGD(
        model.parameters(), lr=LEARNING_RATE, momentum=0.9, weight_decay=2 * RIDGE, fused=True
    )

    model.train()
    step_times = []
    errors = []
    chosen_rows = batches(FIRINGS, BATCH_SIZE)
    for step in range(STEPS):
        began = time.perf_counter()
        rows = next(chosen_rows)
        predicted = model(settings[rows])
        error = F.mse_loss(predicted, outcome[rows])
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
        errors.append(error.item())
        step_times.append(time.perf_counter() - began)
        if step % 40 == 39:
            print(f"step {step + 1}: error {statistics.mean(errors[-40:]):.4f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(errors[-10:]):.6f}")


if __name__ == "__main__":
    main()
