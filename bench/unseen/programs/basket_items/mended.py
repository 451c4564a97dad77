"""Measures how well a two-tower model of a web shop finds the next item of a basket."""
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

SEED = 4
SHOPPERS = 12000
ITEMS = 20000
STEPS = 70
BATCH_SIZE = 128
WIDTH = 96
BASKET = 12
TOP = 10


class ShopperTower(nn.Module):
    def __init__(self, items):
        super().__init__()
        self.items = items
        self.mix = nn.Sequential(nn.Linear(WIDTH, 256), nn.ReLU(), nn.Linear(256, WIDTH))

    def forward(self, baskets):
        mean = self.items(baskets).mean(dim=1)
        return F.normalize(mean + self.mix(mean), dim=-1)


class BasketModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, WIDTH)
        self.shopper = ShopperTower(self.items)
        self.popularity = nn.Parameter(torch.zeros(ITEMS))

    def forward(self, baskets):
        """The score of every item of the shop for each of the baskets."""
        scores = self.shopper(baskets) @ self.items.weight.t() + self.popularity
        # what already lies in the basket is not proposed again
        return scores.scatter(1, baskets, float("-inf"))


def make_baskets():
    """Baskets of related items, and the item that each shopper bought next."""
    generator = torch.Generator().manual_seed(SEED)
    taste = torch.randint(0, ITEMS, (SHOPPERS, 1), generator=generator)
    baskets = (taste + torch.randint(0, 40, (SHOPPERS, BASKET), generator=generator)) % ITEMS
    bought = (taste.squeeze(1) + torch.randint(0, 60, (SHOPPERS,), generator=generator)) % ITEMS
    return baskets, bought


def make_model():
    """A model whose item vectors lie so that neighbours are alike."""
    model = BasketModel()
    with torch.no_grad():
        walk = torch.randn(ITEMS, WIDTH).cumsum(dim=0)
        smooth = walk - F.avg_pool1d(walk.t()[None], 401, stride=1, padding=200)[0].t()
        model.items.weight.copy_(F.normalize(smooth, dim=-1))
        model.popularity.normal_(std=0.02)
    return model.eval()


class Metrics:
    def __init__(self):
        self.hits = 0
        self.gain = 0.0
        self.reciprocal = 0.0
        self.count = 0
        self.proposed = torch.zeros(ITEMS, dtype=torch.bool)

    def update(self, proposals, bought):
        found = proposals == bought.unsqueeze(1)
        ranks = torch.arange(1, TOP + 1)
        self.hits += found.any(dim=1).sum().item()
        self.gain += (found / (ranks + 1).log2()).sum().item()
        self.reciprocal += (found / ranks).sum().item()
        self.count += len(bought)
        self.proposed[proposals.flatten()] = True

    def summary(self):
        return {
            "hit rate": self.hits / self.count,
            "ndcg": self.gain / self.count,
            "mrr": self.reciprocal / self.count,
            "coverage": self.proposed.float().mean().item(),
        }


def propose(model, baskets):
    """The TOP best items for each basket, best first."""
    scores = model(baskets)
    return scores.topk(TOP, dim=1).indices


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    baskets, bought = make_baskets()
    model = make_model()
    metrics = Metrics()

    step_times = []
    with torch.no_grad():
        for step in range(STEPS):
            started = time.perf_counter()
            rows = slice(step * BATCH_SIZE, (step + 1) * BATCH_SIZE)
            metrics.update(propose(model, baskets[rows]), bought[rows])
            step_times.append(time.perf_counter() - started)

    for name, value in metrics.summary().items():
        print(f"{name}: {value:.4f}")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={metrics.summary()['ndcg']:.6f}")


if __name__ == "__main__":
    main()
