"""Trains a recommender of exhibits for the visitors of a group of museums."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

SEED = 822
VISITORS = 80_000
EXHIBITS = 20_000
VISITS = 800_000
TASTES = 200
WIDTH = 64
BATCH_SIZE = 1536
NEGATIVES = 1
LEARNING_RATE = 0.05
TRAIN_SECONDS = 11
REPORTED_STEPS = 20


def make_visits():
    rng = np.random.default_rng(SEED)
    taste = rng.integers(TASTES, size=VISITORS)
    visitors = np.minimum((rng.pareto(1.2, size=VISITS) * 4000).astype(np.int64), VISITORS - 1)
    visitors = rng.permutation(VISITORS)[visitors]
    rank = np.minimum(rng.geometric(0.02, size=VISITS) - 1, EXHIBITS // TASTES - 1)
    exhibits = taste[visitors] * (EXHIBITS // TASTES) + rank
    wander = rng.random(VISITS) < 0.15
    exhibits[wander] = rng.integers(EXHIBITS, size=wander.sum())
    return torch.from_numpy(visitors), torch.from_numpy(exhibits)


class Visits(Dataset):
    """Batches of visits; an index is a list of rows."""

    def __init__(self, visitors, exhibits):
        self.visitors = visitors
        self.exhibits = exhibits

    def __len__(self):
        return len(self.visitors)

    def __getitem__(self, rows):
        return self.visitors[rows], self.exhibits[rows]


class MuseumModel(nn.Module):
    """Scores a pair of a visitor and an exhibit with a product and a small network."""

    def __init__(self):
        super().__init__()
        self.visitors = nn.Embedding(VISITORS, WIDTH)
        self.exhibits = nn.Embedding(EXHIBITS, WIDTH)
        nn.init.normal_(self.visitors.weight, std=0.05)
        nn.init.normal_(self.exhibits.weight, std=0.05)
        self.network = nn.Sequential(
            nn.Linear(3 * WIDTH, 128), nn.ReLU(),
            nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, 1),
        )

    def forward(self, visitors, exhibits):
        visitor = self.visitors(visitors)
        exhibit = self.exhibits(exhibits)
        product = visitor * exhibit
        pair = torch.cat([visitor, exhibit, product], dim=1)
        return product.sum(1) + self.network(pair).squeeze(1)


def ranking_loss(model, visitors, exhibits, generator):
    others = torch.randint(EXHIBITS, (len(visitors) * NEGATIVES,), generator=generator)
    scores = model(
        torch.cat([visitors, visitors.repeat_interleave(NEGATIVES)]),
        torch.cat([exhibits, others]),
    )
    liked, unliked = scores[:len(visitors)], scores[len(visitors):]
    return -F.logsigmoid(liked.repeat_interleave(NEGATIVES) - unliked).mean()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    dataset = Visits(*make_visits())
    batches = BatchSampler(RandomSampler(dataset), BATCH_SIZE, drop_last=True)
    loader = DataLoader(dataset, sampler=batches, batch_size=None)
    negatives = torch.Generator().manual_seed(SEED)

    model = MuseumModel()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=LEARNING_RATE)

    step_times, losses = [], []
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        for some_visitors, some_exhibits in loader:
            loss = ranking_loss(model, some_visitors, some_exhibits, negatives)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now > finish:
                break

    print(f"{len(losses)} steps, last losses {statistics.mean(losses[-10:]):.4f}")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
