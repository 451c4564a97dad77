"""Ranks books for the readers of a library from their loans (pairwise ranking)."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 31
READERS = 2500
BOOKS = 3500
LOANS = 200_000
WIDTH = 64
BATCH_SIZE = 512
STEPS = 250
LEARNING_RATE = 2e-3


def make_loans():
    rng = np.random.default_rng(SEED)
    reader_taste = rng.normal(size=(READERS, 8))
    book_taste = rng.normal(size=(BOOKS, 8))
    popular = rng.normal(size=BOOKS)
    readers = rng.integers(READERS, size=LOANS)
    offers = rng.integers(BOOKS, size=(LOANS, 6))
    scores = np.einsum("nd,nkd->nk", reader_taste[readers], book_taste[offers])
    scores += popular[offers] + rng.gumbel(size=offers.shape)
    order = scores.argsort(axis=1)
    rows = np.arange(LOANS)
    taken, left = offers[rows, order[:, -1]], offers[rows, order[:, 0]]
    ages = rng.normal(size=(LOANS, 1)).astype(np.float32)
    return (torch.from_numpy(readers), torch.from_numpy(taken),
            torch.from_numpy(left), torch.from_numpy(ages))


class IdVectors(nn.Module):
    """A learned vector for each id."""

    def __init__(self, count):
        super().__init__()
        self.vectors = nn.Embedding(count, WIDTH)
        nn.init.normal_(self.vectors.weight, std=0.1)

    def forward(self, ids):
        return self.vectors(ids)


class ShelfRanker(nn.Module):
    def __init__(self):
        super().__init__()
        self.readers = IdVectors(READERS)
        self.books = IdVectors(BOOKS)
        self.scorer = nn.Sequential(
            nn.Linear(3 * WIDTH + 1, 1024), nn.ReLU(),
            nn.Linear(1024, 512), nn.ReLU(),
            nn.Linear(512, 1),
        )

    def score(self, reader, book, ages):
        together = torch.cat([reader, book, reader * book, ages], dim=1)
        return self.scorer(together).squeeze(1)

    def forward(self, readers, taken, left, ages):
        reader = self.readers(readers)
        better = self.score(reader, self.books(taken), ages)
        worse = self.score(reader, self.books(left), ages)
        return better, worse


class Training:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
        self.right = []

    def step(self, batch):
        better, worse = self.model(*batch)
        loss = F.softplus(worse - better).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.right.append((better > worse).float().mean().item())
        return loss.item()


def main():
    torch.manual_seed(SEED)
    loans = make_loans()
    training = Training(ShelfRanker())
    parameters = sum(p.numel() for p in training.model.parameters())
    print(f"{LOANS} loans, {parameters} parameters")

    losses, step_times = [], []
    order = torch.randperm(LOANS)
    last = time.perf_counter()
    for step in range(STEPS):
        rows = order[step * BATCH_SIZE:(step + 1) * BATCH_SIZE]
        losses.append(training.step([column[rows] for column in loans]))
        now = time.perf_counter()
        step_times.append(now - last)
        last = now
        if (step + 1) % 50 == 0:
            print(f"step {step + 1}: loss {statistics.mean(losses[-50:]):.4f}, "
                  f"right order {statistics.mean(training.right[-50:]):.3f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-30:]):.6f}")


if __name__ == "__main__":
    main()
