"""Two-tower recommender for a web shop, trained on purchases with sampled negatives."""
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
NUM_USERS = 20_000
NUM_ITEMS = 5_000
NUM_PURCHASES = 400_000
BATCH = 2048
NEGATIVES = 4
DIM = 32


def make_purchases(generator):
    """Every customer has a taste group; popular items are bought more often."""
    users = torch.randint(0, NUM_USERS, (NUM_PURCHASES,), generator=generator)
    rank = torch.rand(NUM_PURCHASES, generator=generator) ** 2.0
    within = (rank * (NUM_ITEMS // 20)).long()
    group = users % 20
    stray = torch.rand(NUM_PURCHASES, generator=generator) < 0.2
    group = torch.where(stray, torch.randint(0, 20, (NUM_PURCHASES,), generator=generator), group)
    items = group * (NUM_ITEMS // 20) + within
    keys = torch.unique(users * NUM_ITEMS + items)
    shuffled = keys[torch.randperm(len(keys), generator=generator)]
    return torch.stack([shuffled // NUM_ITEMS, shuffled % NUM_ITEMS], dim=1)


class PurchaseSampler:
    """Yields purchases with random items that the same customer has not bought."""

    def __init__(self, purchases, batch, negatives, generator):
        self.purchases = purchases
        self.batch = batch
        self.negatives = negatives
        self.generator = generator
        self.bought = torch.sort(purchases[:, 0] * NUM_ITEMS + purchases[:, 1]).values

    def is_bought(self, users, items):
        keys = users * NUM_ITEMS + items
        at = torch.searchsorted(self.bought, keys).clamp_(max=len(self.bought) - 1)
        return self.bought[at] == keys

    def draw(self, shape):
        return torch.randint(0, NUM_ITEMS, shape, generator=self.generator)

    def next(self):
        rows = torch.randint(0, len(self.purchases), (self.batch,), generator=self.generator)
        users, positives = self.purchases[rows].unbind(dim=1)
        owners = users[:, None].expand(-1, self.negatives)
        candidates = self.draw((self.batch, self.negatives))
        valid = ~self.is_bought(owners, candidates)
        return users, positives, candidates, valid


class Tower(nn.Module):
    def __init__(self, count, dim):
        super().__init__()
        self.table = nn.Embedding(count, dim)
        nn.init.normal_(self.table.weight, std=0.1)
        self.net = nn.Sequential(nn.Linear(dim, 128), nn.ReLU(), nn.Linear(128, dim))

    def forward(self, ids):
        x = self.table(ids)
        return x + self.net(x)


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.user_tower = Tower(NUM_USERS, DIM)
        self.item_tower = Tower(NUM_ITEMS, DIM)
        self.item_bias = nn.Embedding(NUM_ITEMS, 1)
        nn.init.zeros_(self.item_bias.weight)

    def forward(self, users, items):
        u = self.user_tower(users)
        v = self.item_tower(items)
        return torch.einsum("bd,bkd->bk", u, v) + self.item_bias(items).squeeze(-1)


def bpr_loss(scores, valid):
    margin = scores[:, :1] - scores[:, 1:]
    weights = valid.to(margin.dtype)
    return -(F.logsigmoid(margin) * weights).sum() / weights.sum()


def train_step(model, optimizer, batch):
    users, positives, candidates, valid = batch
    items = torch.cat([positives[:, None], candidates], dim=1)
    loss = bpr_loss(model(users, items), valid)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(21)
    generator = torch.Generator().manual_seed(22)
    purchases = make_purchases(generator)
    sampler = PurchaseSampler(purchases, BATCH, NEGATIVES, generator)
    model = Recommender()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    losses, times = [], []
    begin = time.perf_counter()
    while time.perf_counter() - begin < TRAIN_SECONDS:
        start = time.perf_counter()
        losses.append(train_step(model, optimizer, sampler.next()))
        times.append((time.perf_counter() - start) * 1e3)

    print(f"purchases={len(purchases)} steps={len(losses)} last_loss={losses[-1]:.4f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
