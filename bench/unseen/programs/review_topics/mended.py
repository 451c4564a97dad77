"""Sorts hotel reviews into topics with a small transformer."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 29
REVIEWS = 384
LENGTH = 256
VOCABULARY = 3000
TOPICS = 12
WIDTH = 96
HEADS = 8
LAYERS = 2
BATCH_SIZE = 8
LEARNING_RATE = 5e-4


def make_reviews():
    """Word numbers; every topic prefers some words, the rest are frequent words."""
    rng = np.random.default_rng(SEED)
    frequency = 1 / (np.arange(VOCABULARY) + 10)
    frequency /= frequency.sum()
    topic_words = rng.integers(0, VOCABULARY, size=(TOPICS, 40))
    topics = rng.integers(0, TOPICS, size=REVIEWS)
    words = rng.choice(VOCABULARY, size=(REVIEWS, LENGTH), p=frequency)
    telling = rng.random((REVIEWS, LENGTH)) < 0.12
    preferred = topic_words[topics[:, None], rng.integers(0, 40, size=(REVIEWS, LENGTH))]
    words = np.where(telling, preferred, words)
    return torch.from_numpy(words), torch.from_numpy(topics)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.feed_norm = nn.LayerNorm(WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        y = self.attention_norm(x)
        attended, _ = self.attention(y, y, y, need_weights=False)
        x = x + attended
        return x + self.feed(self.feed_norm(x))


class TopicModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOPICS)

    def forward(self, words):
        x = self.words(words) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(dim=1))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    words, topics = make_reviews()
    loader = DataLoader(TensorDataset(words, topics), batch_size=BATCH_SIZE, shuffle=True)
    model = TopicModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True)

    model.train()
    step_times = []
    losses = []
    started = time.perf_counter()
    for batch, truth in loader:
        loss = F.cross_entropy(model(batch), truth)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - started)
        started = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
