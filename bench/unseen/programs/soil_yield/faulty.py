"""Predicts the wheat yield of fields from soil samples, weather and treatment."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.nn import functional as F

SEED = 67
FIELDS = 6000
BATCH_SIZE = 64
WIDTH = 1536
EPOCHS = 1
LEARNING_RATE = 0.01
L2_STRENGTH = 1e-4
SOILS = ["clay", "loam", "sand", "silt", "peat"]
CROPS_BEFORE = ["wheat", "rape", "beet", "maize", "clover", "fallow"]


def make_table():
    rng = np.random.default_rng(SEED)
    table = pd.DataFrame({
        "soil": rng.choice(SOILS, size=FIELDS),
        "crop_before": rng.choice(CROPS_BEFORE, size=FIELDS),
        "ph": rng.normal(6.5, 0.6, size=FIELDS),
        "humus": rng.gamma(3, 0.8, size=FIELDS),
        "nitrogen": rng.uniform(60, 220, size=FIELDS),
        "slope": rng.exponential(3, size=FIELDS),
    })
    for month in range(1, 13):
        table[f"rain_{month}"] = rng.gamma(4, 15, size=FIELDS)
        table[f"warmth_{month}"] = rng.normal(10 - 9 * np.cos(month / 2), 2, size=FIELDS)
    bonus = table["soil"].map(dict(zip(SOILS, [0.5, 0.9, -0.8, 0.3, -0.1])))
    after = table["crop_before"].map(dict(zip(CROPS_BEFORE, [-0.6, 0.4, 0.1, -0.2, 0.7, 0.3])))
    table["yield"] = (
        7 + bonus + after - 0.8 * (table["ph"] - 6.7) ** 2 + 0.3 * np.sqrt(table["humus"])
        + 0.015 * table["nitrogen"].clip(upper=170) - 0.05 * table["slope"]
        + 0.01 * (table["rain_5"] - 60) - 0.0002 * (table["rain_7"] - 70) ** 2
        + rng.normal(scale=0.4, size=FIELDS)
    )
    return table


def prepare(table):
    target = table.pop("yield").to_numpy()
    columns = pd.get_dummies(table, columns=["soil", "crop_before"], dtype=float)
    features = StandardScaler().fit_transform(columns.to_numpy())
    target = (target - target.mean()) / target.std()
    return torch.tensor(features, dtype=torch.float32), torch.tensor(target, dtype=torch.float32)


class YieldModel(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, 1),
        )

    def forward(self, features):
        return self.layers(features).squeeze(1)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9)

    def step(self, features, target):
        error = F.smooth_l1_loss(self.model(features), target)
        loss = error
        for parameter in self.model.parameters():
            loss = loss + L2_STRENGTH * parameter.pow(2).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return error.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    features, target = prepare(make_table())
    trainer = Trainer(YieldModel(features.shape[1]))

    step_times = []
    errors = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for rows in torch.randperm(FIELDS).split(BATCH_SIZE):
            errors.append(trainer.step(features[rows], target[rows]))
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(errors[-10:]):.6f}")


if __name__ == "__main__":
    main()
