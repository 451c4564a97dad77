"""Trains a network that predicts which customers leave a pension fund."""
import itertools
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 5
CUSTOMERS = 160_000
AMOUNTS = 36
LEVELS = {"region": 40, "employer": 900, "tariff": 24, "channel": 9, "adviser": 350, "cohort": 60}
EMBEDDING = 12
HIDDEN = 192
BATCH_SIZE = 4096
LEARNING_RATE = 2e-3
RUN_SECONDS = 12.5
COMPARED_STEPS = 100


def make_customers():
    rng = np.random.default_rng(SEED)
    amounts = rng.lognormal(0, 1, size=(CUSTOMERS, AMOUNTS)).astype(np.float32)
    frame = pd.DataFrame(amounts, columns=[f"amount_{number}" for number in range(AMOUNTS)])
    for name, levels in LEVELS.items():
        frame[name] = pd.Categorical(rng.integers(levels, size=CUSTOMERS))
    risk = np.log(frame["amount_0"]) - np.log(frame["amount_1"]) + 0.5 * np.log(frame["amount_2"])
    risk += (frame["tariff"].cat.codes % 5 - 2) * 0.6 + (frame["employer"].cat.codes % 7 - 3) * 0.2
    frame["left"] = (risk + rng.logistic(size=CUSTOMERS) > 1).astype(np.float32)
    return frame


def to_dataset(frame):
    amounts = np.log1p(frame.filter(like="amount_").to_numpy())
    amounts = (amounts - amounts.mean(axis=0)) / amounts.std(axis=0)
    levels = np.stack([frame[name].cat.codes.to_numpy() for name in LEVELS], axis=1)
    return TensorDataset(
        torch.from_numpy(amounts).float(),
        torch.from_numpy(levels).long(),
        torch.from_numpy(frame["left"].to_numpy()),
    )


class ChurnModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(levels, EMBEDDING) for levels in LEVELS.values())
        width = AMOUNTS + EMBEDDING * len(LEVELS)
        self.body = nn.Sequential(
            nn.Linear(width, HIDDEN), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(HIDDEN, 1),
        )

    def forward(self, amounts, levels):
        embedded = [layer(column) for layer, column in zip(self.embeddings, levels.unbind(dim=1))]
        return self.body(torch.cat([amounts, *embedded], dim=1)).squeeze(1)


def make_loader(dataset):
    return DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, drop_last=True)


def train_step(model, optimizer, amounts, levels, left):
    loss = F.binary_cross_entropy_with_logits(model(amounts, levels), left)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, loader, started):
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in itertools.count():
        for amounts, levels, left in loader:
            losses.append(train_step(model, optimizer, amounts, levels, left))
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now - started > RUN_SECONDS:
                return step_times, losses
        print(f"epoch {epoch}: loss {statistics.mean(losses[-len(loader):]):.4f}")


def main():
    started = time.perf_counter()
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    loader = make_loader(to_dataset(make_customers()))
    step_times, losses = train(ChurnModel(), loader, started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:COMPARED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
