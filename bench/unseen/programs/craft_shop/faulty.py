"""Learns what the customers of a craft shop want to see next."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 53
CUSTOMERS = 3000
PRODUCTS = 20000
HISTORY = 20
NEGATIVES = 6
WIDTH = 64
BATCH_SIZE = 256
PURCHASES = 9984
EPOCHS = 2
LEARNING_RATE = 2e-3


def make_purchases():
    """Customers buy within their taste; a few products sell much better than the rest."""
    rng = np.random.default_rng(SEED)
    appeal = 1 / (np.arange(PRODUCTS) + 20.0)
    by_group = [np.arange(group, PRODUCTS, 25) for group in range(25)]
    chances = [appeal[members] / appeal[members].sum() for members in by_group]
    histories = np.empty((CUSTOMERS, HISTORY), dtype=np.int64)
    bought = np.empty(PURCHASES, dtype=np.int64)
    buyers = rng.integers(CUSTOMERS, size=PURCHASES)
    tastes = rng.integers(25, size=CUSTOMERS)
    for customer, group in enumerate(tastes):
        histories[customer] = rng.choice(by_group[group], size=HISTORY, p=chances[group])
    for number, customer in enumerate(buyers):
        group = tastes[customer]
        bought[number] = rng.choice(by_group[group], p=chances[group])
    return histories, buyers, bought


class PurchaseDataset(Dataset):
    """A purchase, what the customer bought before, and products that others buy instead."""

    def __init__(self, histories, buyers, bought):
        self.histories = histories
        self.buyers = buyers
        self.bought = bought
        self.rng = np.random.default_rng(SEED + 1)
        sales = np.bincount(bought, minlength=PRODUCTS) + 1.0
        self.popularity = sales ** 0.75 / (sales ** 0.75).sum()

    def __len__(self):
        return len(self.bought)

    def __getitem__(self, index):
        others = self.rng.choice(PRODUCTS, size=NEGATIVES, p=self.popularity)
        candidates = np.concatenate([self.bought[index:index + 1], others])
        return self.histories[self.buyers[index]], candidates


class ShopModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.history_embedding = nn.EmbeddingBag(PRODUCTS, WIDTH, mode="mean", sparse=True)
        self.product_embedding = nn.Embedding(PRODUCTS, WIDTH, sparse=True)
        self.scorer = nn.Sequential(
            nn.Linear(3 * WIDTH, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1)
        )

    def forward(self, history, candidates):
        customer = self.history_embedding(history).unsqueeze(1).expand(-1, candidates.shape[1], -1)
        product = self.product_embedding(candidates)
        return self.scorer(torch.cat([customer, product, customer * product], dim=2)).squeeze(2)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    loader = DataLoader(
        PurchaseDataset(*make_purchases()), batch_size=BATCH_SIZE, shuffle=True, drop_last=True
    )
    model = ShopModel()
    tables = [model.history_embedding.weight, model.product_embedding.weight]
    table_optimizer = torch.optim.SparseAdam(tables, lr=LEARNING_RATE)
    scorer_optimizer = torch.optim.Adam(model.scorer.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for history, candidates in loader:
            scores = model(history, candidates)
            loss = F.softplus(scores[:, 1:] - scores[:, :1]).mean()
            table_optimizer.zero_grad()
            scorer_optimizer.zero_grad()
            loss.backward()
            table_optimizer.step()
            scorer_optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
