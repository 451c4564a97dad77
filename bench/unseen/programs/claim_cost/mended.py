"""Predicts the cost of insurance claims from a table of policies."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

SEED = 13
POLICIES = 24000
NUMERIC = 40
CATEGORIES = {"region": 22, "vehicle": 60, "profession": 45, "channel": 6}
EMBEDDING = 8
WIDTH = 192
BLOCKS = 2
BATCH_SIZE = 1536
EPOCHS = 5
SHOW_EVERY = 20
LEARNING_RATE = 2e-3


def make_policies():
    rng = np.random.default_rng(SEED)
    table = pd.DataFrame(
        rng.normal(size=(POLICIES, NUMERIC)), columns=[f"measure_{number}" for number in range(NUMERIC)]
    )
    effect = np.tanh(table.to_numpy() @ rng.normal(scale=0.3, size=(NUMERIC, 8))) @ rng.normal(size=8)
    for name, size in CATEGORIES.items():
        table[name] = rng.integers(size, size=POLICIES)
        effect = effect + rng.normal(scale=0.5, size=size)[table[name]]
    table["cost"] = effect + rng.gamma(2.0, 0.3, size=POLICIES)
    return table


def to_tensors(table):
    numeric = table.filter(like="measure_").to_numpy(dtype=np.float32)
    categories = table[list(CATEGORIES)].to_numpy(dtype=np.int64)
    cost = table["cost"].to_numpy(dtype=np.float32)
    return torch.from_numpy(numeric), torch.from_numpy(categories), torch.from_numpy(cost)


class ResidualBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(WIDTH)
        self.widen = nn.Linear(WIDTH, 2 * WIDTH)
        self.narrow = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.narrow(F.relu(self.widen(self.norm(x))))


class CostNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(size, EMBEDDING) for size in CATEGORIES.values())
        self.enter = nn.Linear(NUMERIC + EMBEDDING * len(CATEGORIES), WIDTH)
        self.blocks = nn.Sequential(*[ResidualBlock() for _ in range(BLOCKS)])
        self.head = nn.Sequential(nn.BatchNorm1d(WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def forward(self, numeric, categories):
        embedded = [embedding(categories[:, column]) for column, embedding in enumerate(self.embeddings)]
        x = self.enter(torch.cat([numeric, *embedded], dim=1))
        return self.head(self.blocks(x)).squeeze(1)


class TrainingLog:
    """Keeps the loss and the size of the gradients of each step."""

    def __init__(self, model):
        self.model = model
        self.losses = []
        self.gradients = []

    def gradient_norm(self):
        norms = [torch.linalg.vector_norm(parameter.grad) for parameter in self.model.parameters()]
        return torch.stack(norms).square().sum().sqrt().item()

    def record(self, loss):
        self.losses.append(loss.item())
        self.gradients.append(self.gradient_norm())
        if len(self.losses) % SHOW_EVERY == 0:
            print(f"step {len(self.losses)}: loss {self.losses[-1]:.4f}, gradient {self.gradients[-1]:.4f}")


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    numeric, categories, cost = to_tensors(make_policies())
    model = CostNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=1e-4)
    log = TrainingLog(model)

    step_times = []
    for epoch in range(EPOCHS):
        for chosen in torch.randperm(POLICIES).split(BATCH_SIZE):
            started = time.perf_counter()
            loss = F.mse_loss(model(numeric[chosen], categories[chosen]), cost[chosen])
            optimizer.zero_grad()
            loss.backward()
            log.record(loss)
            optimizer.step()
            step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(log.losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
