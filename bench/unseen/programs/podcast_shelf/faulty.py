"""Learns which podcast a listener plays next from the ones played before."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 71
PODCASTS = 60000
TOPICS = 80
LISTENERS = 24000
HISTORY = 20
BATCH_SIZE = 512
NEGATIVES = 2048
WIDTH = 64
HIDDEN = 512
MAX_NORM = 1.0
STEPS = 220
TEMPERATURE = 0.1


def make_histories():
    rng = np.random.default_rng(SEED)
    topic_size = PODCASTS // TOPICS
    favourites = rng.integers(TOPICS, size=(LISTENERS, 3))
    chosen = rng.integers(3, size=(LISTENERS, HISTORY + 1))
    topics = np.take_along_axis(favourites, chosen, axis=1)
    ranks = (topic_size * rng.beta(1.0, 2.0, size=topics.shape)).astype(np.int64)
    strays = rng.random(topics.shape) < 0.1
    plays = np.where(strays, rng.integers(PODCASTS, size=topics.shape), topics * topic_size + ranks)
    return torch.from_numpy(plays)


def make_batches(plays):
    generator = torch.Generator().manual_seed(SEED)
    for _ in range(STEPS):
        rows = torch.randint(len(plays), (BATCH_SIZE,), generator=generator)
        negatives = torch.randint(PODCASTS, (NEGATIVES,), generator=generator)
        batch = plays[rows]
        yield batch[:, :-1], batch[:, -1], negatives


class PodcastTable(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(PODCASTS, WIDTH, max_norm=MAX_NORM, sparse=True)
        nn.init.normal_(self.table.weight, std=0.13)

    def forward(self, podcasts):
        return self.table(podcasts)


class ListenerTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.per_play = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU())
        self.attend = nn.Linear(HIDDEN, 1)
        self.out = nn.Sequential(
            nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH)
        )

    def forward(self, vectors):
        hidden = self.per_play(vectors)
        weights = self.attend(hidden).softmax(dim=1)
        return self.out((weights * hidden).sum(dim=1))


class NextPodcastModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.podcasts = PodcastTable()
        self.listener = ListenerTower()

    def forward(self, history, target, negatives):
        queries = F.normalize(self.listener(self.podcasts(history)), dim=1)
        positive = (queries * self.podcasts(target)).sum(dim=1, keepdim=True)
        others = queries @ self.podcasts(negatives).T
        return torch.cat([positive, others], dim=1) / TEMPERATURE


class Trainer:
    def __init__(self, model):
        self.model = model
        self.table_optimizer = torch.optim.SGD(model.podcasts.parameters(), lr=2.0)
        self.tower_optimizer = torch.optim.Adam(model.listener.parameters(), lr=1e-3)

    def step(self, history, target, negatives):
        scores = self.model(history, target, negatives)
        loss = F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long))
        self.table_optimizer.zero_grad()
        self.tower_optimizer.zero_grad()
        loss.backward()
        self.table_optimizer.step()
        self.tower_optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    plays = make_histories()
    trainer = Trainer(NextPodcastModel())

    step_times = []
    losses = []
    last = time.perf_counter()
    for history, target, negatives in make_batches(plays):
        losses.append(trainer.step(history, target, negatives))
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
