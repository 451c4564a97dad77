"""Predicts crop yields from soil, weather and region with a deep, narrow network."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

SEED = 25
FIELDS = 20000
REGIONS = 60
CROPS = 14
WIDTH = 32
BLOCKS = 96
BATCH_SIZE = 32
STEPS = 80
LEARNING_RATE = 5e-4

MEASURES = ["rain", "sun", "ph", "nitrogen", "clay", "height", "slope", "frost_days"]


def make_fields():
    rng = np.random.default_rng(SEED)
    table = pd.DataFrame(rng.normal(size=(FIELDS, len(MEASURES))), columns=MEASURES)
    table["region"] = rng.integers(0, REGIONS, size=FIELDS)
    table["crop"] = rng.integers(0, CROPS, size=FIELDS)
    best_rain = rng.normal(size=CROPS)[table["crop"]]
    table["harvest"] = (
        2.0
        - 0.5 * (table["rain"] - best_rain) ** 2
        + 0.4 * table["nitrogen"]
        - 0.3 * table["frost_days"].clip(lower=0)
        + 0.5 * rng.normal(size=REGIONS)[table["region"]]
        + rng.normal(scale=0.2, size=FIELDS)
    )
    table["harvest"] = (table["harvest"] - table["harvest"].mean()) / table["harvest"].std()
    return table


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.expand = nn.Linear(WIDTH, 2 * WIDTH)
        self.shrink = nn.Linear(2 * WIDTH, WIDTH)
        self.scale = nn.Parameter(torch.full((WIDTH,), 0.2))

    def forward(self, x):
        return x + self.scale * self.shrink(F.relu(self.expand(self.norm(x))))


class YieldNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.region = nn.Embedding(REGIONS, 8)
        self.crop = nn.Embedding(CROPS, 8)
        self.enter = nn.Linear(len(MEASURES) + 16, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, measures, regions, crops):
        x = torch.cat([measures, self.region(regions), self.crop(crops)], dim=1)
        x = self.blocks(self.enter(x))
        return self.head(self.norm(x)).squeeze(1)


def parameter_groups(model):
    """Weight decay is for matrices only."""
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    others = [p for p in model.parameters() if p.ndim < 2]
    return [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    table = make_fields()
    measures = torch.from_numpy(table[MEASURES].to_numpy(dtype=np.float32))
    regions = torch.from_numpy(table["region"].to_numpy())
    crops = torch.from_numpy(table["crop"].to_numpy())
    harvest = torch.from_numpy(table["harvest"].to_numpy(dtype=np.float32))

    model = YieldNet()
    optimizer = torch.optim.AdamW(parameter_groups(model), lr=LEARNING_RATE, amsgrad=True)
    step_times = []
    losses = []
    for step in range(STEPS):
        started = time.perf_counter()
        rows = torch.randint(0, FIELDS, (BATCH_SIZE,))
        predicted = model(measures[rows], regions[rows], crops[rows])
        loss = F.mse_loss(predicted, harvest[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
