"""Sends support tickets to the right team with a small transformer."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 43
TICKETS = 640
VOCABULARY = 2000
TEAMS = 8
LENGTH = 64
WIDTH = 96
HEADS = 12
HEAD_WIDTH = WIDTH // HEADS
LAYERS = 3
BATCH_SIZE = 16
EPOCHS = 1
LEARNING_RATE = 5e-4


def make_tickets():
    """Tickets of token ids; every team has words that its tickets use more often."""
    rng = np.random.default_rng(SEED)
    general = 1.0 / (np.arange(VOCABULARY) + 10)
    tokens = np.zeros((TICKETS, LENGTH), dtype=np.int64)
    teams = rng.integers(TEAMS, size=TICKETS)
    preferred = [rng.choice(VOCABULARY, size=60, replace=False) for _ in range(TEAMS)]
    chances = []
    for words in preferred:
        weights = general.copy()
        weights[words] += 0.02
        chances.append(weights / weights.sum())
    for row, team in enumerate(teams):
        tokens[row] = rng.choice(VOCABULARY, size=LENGTH, p=chances[team])
    return torch.from_numpy(tokens), torch.from_numpy(teams)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, HEAD_WIDTH, bias=False)
        self.key = nn.Linear(WIDTH, HEAD_WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, HEAD_WIDTH, bias=False)

    def forward(self, x):
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(1, 2) / HEAD_WIDTH ** 0.5
        return scores.softmax(dim=2) @ value


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(Head() for _ in range(HEADS))
        self.leave = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.leave(torch.cat([head(x) for head in self.heads], dim=2))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return self.narrow(F.gelu(self.wide(x)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.attention = SelfAttention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.feed_forward = FeedForward()

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class TicketRouter(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TEAMS)

    def forward(self, tokens):
        x = self.blocks(self.words(tokens) + self.places)
        return self.head(self.norm(x).mean(dim=1))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    loader = DataLoader(TensorDataset(*make_tickets()), batch_size=BATCH_SIZE, shuffle=True)
    model = TicketRouter()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True)

    step_times = []
    losses = []
    for epoch in range(EPOCHS):
        began = time.perf_counter()
        for tokens, teams in loader:
            loss = F.cross_entropy(model(tokens), teams)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - began)
            began = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
