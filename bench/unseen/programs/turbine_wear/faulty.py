"""Predicts the wear of wind turbine bearings from a wide table of their sensors."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

SEED = 76
TURBINES = 60000
BANDS = 420
BATCH_SIZE = 1024
WIDTH = 192
EPOCHS = 26
LEARNING_RATE = 1e-3


def make_table():
    rng = np.random.default_rng(SEED)
    age = rng.gamma(3, 2, size=TURBINES).astype(np.float32)
    load = rng.beta(4, 2, size=TURBINES).astype(np.float32)
    wear = 0.1 * age * load ** 2
    columns = {"age": age, "load": load}
    for band in range(BANDS):
        noise = rng.standard_normal(TURBINES, dtype=np.float32)
        columns[f"band_{band}"] = np.float32(np.exp(-band / 150)) * wear + noise
    columns["wear"] = wear + 0.2 * rng.standard_normal(TURBINES, dtype=np.float32)
    return pd.DataFrame(columns)


def prepare(table):
    target = table.pop("wear").to_numpy()
    scaled = (table - table.mean()) / table.std()
    features = torch.from_numpy(scaled.to_numpy(copy=True))
    return features, torch.from_numpy((target - target.mean()) / target.std())


def make_batches(features, target):
    for rows in torch.randperm(len(features)).split(BATCH_SIZE):
        yield features[rows], target[rows]


class WearModel(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, 1),
        )

    def forward(self, features):
        return self.layers(features).squeeze(1)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)

    def step(self, features, target):
        loss = F.huber_loss(self.model(features), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    features, target = prepare(make_table())
    trainer = Trainer(WearModel(features.shape[1]))

    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for batch in make_batches(features, target):
            losses.append(trainer.step(*batch))
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
