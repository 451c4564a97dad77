"""Trains a network that raises alerts for suspicious card payments."""
import statistics
import time

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.nn import functional as F

SEED = 13
PAYMENTS = 60000
AMOUNTS = 24
SHOP_KINDS = 300
COUNTRIES = 80
STEPS = 80
BATCH_SIZE = 2048
LEARNING_RATE = 2e-3


def make_payments():
    rng = np.random.default_rng(SEED)
    amounts = rng.lognormal(0.0, 1.0, size=(PAYMENTS, AMOUNTS)).astype(np.float32)
    shops = rng.integers(0, SHOP_KINDS, size=PAYMENTS)
    countries = rng.integers(0, COUNTRIES, size=PAYMENTS)
    risk = 0.4 * np.log(amounts[:, 0]) * np.log(amounts[:, 3]) + rng.normal(size=SHOP_KINDS)[shops]
    risk += 0.7 * rng.normal(size=COUNTRIES)[countries] + rng.normal(scale=0.8, size=PAYMENTS)
    fraud = (risk > np.quantile(risk, 0.93)).astype(np.float32)
    return (
        torch.from_numpy(np.log1p(amounts)),
        torch.from_numpy(shops),
        torch.from_numpy(countries),
        torch.from_numpy(fraud),
    )


class AlertNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.shop = nn.Embedding(SHOP_KINDS, 16)
        self.country = nn.Embedding(COUNTRIES, 8)
        self.norm = nn.BatchNorm1d(AMOUNTS)
        self.layers = nn.Sequential(
            nn.Linear(AMOUNTS + 24, 256),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(256, 256),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(256, 1),
        )

    def forward(self, amounts, shops, countries):
        x = torch.cat([self.norm(amounts), self.shop(shops), self.country(countries)], dim=1)
        return self.layers(x).squeeze(1)


class Progress:
    """What the progress line of the training shows."""

    def __init__(self):
        self.loss = None
        self.scores = []
        self.truth = []
        self.auc = 0.5

    def update(self, loss, logits, fraud):
        self.loss = loss if self.loss is None else 0.95 * self.loss + 0.05 * loss
        self.scores.append(torch.sigmoid(logits.detach()))
        self.truth.append(fraud)
        self.auc = roc_auc_score(torch.cat(self.truth).numpy(), torch.cat(self.scores).numpy())

    def line(self, step):
        return f"step {step:3d}  loss {self.loss:.4f}  auc {self.auc:.4f}"


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    amounts, shops, countries, fraud = make_payments()
    model = AlertNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    weight = torch.tensor(5.0)
    progress = Progress()

    step_times = []
    for step in range(1, STEPS + 1):
        started = time.perf_counter()
        rows = torch.randint(0, PAYMENTS, (BATCH_SIZE,))
        logits = model(amounts[rows], shops[rows], countries[rows])
        loss = F.binary_cross_entropy_with_logits(logits, fraud[rows], pos_weight=weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.update(loss.item(), logits, fraud[rows])
        if step % 20 == 0:
            print(progress.line(step))
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={progress.auc:.6f}")


if __name__ == "__main__":
    main()
