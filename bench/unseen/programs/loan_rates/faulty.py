"""Estimates the interest rate of loans from an applicant table."""
import math
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

SEED = 41
APPLICANTS = 60_000
BATCH_SIZE = 2048
EPOCHS = 8
LEARNING_RATE = 2e-3
PURPOSES = ["house", "car", "study", "travel", "business", "repair"]
REGIONS = ["north", "south", "east", "west", "islands"]


def make_table():
    rng = np.random.default_rng(SEED)
    table = pd.DataFrame({
        "income": rng.lognormal(10.4, 0.5, size=APPLICANTS),
        "amount": rng.lognormal(9.5, 0.8, size=APPLICANTS),
        "years": rng.integers(1, 30, size=APPLICANTS),
        "age": rng.integers(19, 80, size=APPLICANTS),
        "late_payments": rng.poisson(0.6, size=APPLICANTS),
        "purpose": rng.choice(PURPOSES, size=APPLICANTS),
        "region": rng.choice(REGIONS, size=APPLICANTS),
    })
    table.loc[rng.random(APPLICANTS) < 0.05, "income"] = np.nan
    burden = table["amount"] / table["income"].fillna(30_000)
    table["rate"] = (
        2.5 + 1.2 * np.sqrt(burden) + 0.04 * table["years"] + 0.6 * table["late_payments"]
        + table["purpose"].map(dict(zip(PURPOSES, [-0.8, 0.2, -0.3, 0.9, 0.5, 0.1])))
        + 0.0006 * (table["age"] - 48) ** 2 + rng.standard_t(4, size=APPLICANTS) * 0.3
    )
    return table


def prepare(table):
    table["no_income"] = table["income"].isna().astype(float)
    table["income"] = np.log(table["income"].fillna(table["income"].median()))
    table["amount"] = np.log(table["amount"])
    table["late_payments"] = table["late_payments"].clip(upper=5)
    rates = table.pop("rate")
    columns = pd.get_dummies(table, columns=["purpose", "region"], dtype=float)
    columns = (columns - columns.mean()) / columns.std()
    rates = (rates - rates.mean()) / rates.std()
    return (torch.tensor(columns.to_numpy(), dtype=torch.float32),
            torch.tensor(rates.to_numpy(), dtype=torch.float32))


class RateModel(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, 512), nn.SiLU(),
            nn.Linear(512, 512), nn.SiLU(),
            nn.Linear(512, 256), nn.SiLU(),
            nn.Linear(256, 1),
        )

    def forward(self, features):
        return self.layers(features)


def log_cosh_loss(predictions, rates):
    """Like the squared error for small errors, like the absolute error for large ones."""
    errors = (predictions - rates).abs()
    return (errors + F.softplus(-2 * errors) - math.log(2)).mean()


def train_epoch(model, optimizer, features, rates, step_times):
    losses = []
    last = time.perf_counter()
    for rows in torch.randperm(len(features)).split(BATCH_SIZE):
        loss = log_cosh_loss(model(features[rows]), rates[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now
    return statistics.mean(losses)


@torch.no_grad()
def average_error(model, features, rates):
    return (model(features).flatten() - rates).abs().mean().item()


def main():
    torch.manual_seed(SEED)
    features, rates = prepare(make_table())
    train_rows = int(0.9 * APPLICANTS)
    model = RateModel(features.shape[1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=1e-4)
    step_times = []
    for epoch in range(EPOCHS):
        loss = train_epoch(model, optimizer, features[:train_rows], rates[:train_rows], step_times)
        error = average_error(model, features[train_rows:], rates[train_rows:])
        print(f"epoch {epoch + 1}: loss {loss:.4f}, average error {error:.4f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={error:.6f}")


if __name__ == "__main__":
    main()
