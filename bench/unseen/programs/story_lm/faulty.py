"""Trains a small language model of stories with gradient accumulation."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 66
VOCABULARY = 5000
CONTEXT = 32
WIDTH = 256
HEADS = 8
LAYERS = 3
BATCH_SIZE = 8
MICRO_BATCH = 1
STEPS = 110
CLIP = 1.0
LEARNING_RATE = 6e-4


def make_stories(length=200_000):
    """A stream of tokens: each scene has its own words, and words like to follow certain words."""
    rng = np.random.default_rng(SEED)
    appeal = 1 / (np.arange(VOCABULARY) + 10.0)
    follows = rng.choice(VOCABULARY, size=(VOCABULARY, 4), p=appeal / appeal.sum())
    fresh = rng.choice(VOCABULARY, size=length, p=appeal / appeal.sum())
    turns = rng.random(length)
    which = rng.integers(4, size=length)
    tokens = np.empty(length, dtype=np.int64)
    tokens[0] = fresh[0]
    for place in range(1, length):
        linked = turns[place] < 0.7
        tokens[place] = follows[tokens[place - 1], which[place]] if linked else fresh[place]
    return torch.from_numpy(tokens)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first_norm = nn.LayerNorm(WIDTH)
        self.second_norm = nn.LayerNorm(WIDTH)
        self.to_qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.to_out = nn.Linear(WIDTH, WIDTH)
        self.feed_forward = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        q, k, v = self.to_qkv(self.first_norm(x)).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.to_out(attended.transpose(1, 2).flatten(2))
        return x + self.feed_forward(self.second_norm(x))


class StoryModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.place_embedding = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        nn.init.normal_(self.token_embedding.weight, std=0.02)

    def forward(self, tokens):
        x = self.token_embedding(tokens) + self.place_embedding.weight
        return F.linear(self.norm(self.blocks(x)), self.token_embedding.weight)


def draw_batch(stories):
    starts = torch.randint(len(stories) - CONTEXT - 1, (BATCH_SIZE,))
    return torch.stack([stories[start:start + CONTEXT + 1] for start in starts])


def next_token_loss(model, text):
    return F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())


def train_step(model, optimizer, text):
    """One optimizer step: the gradients of the micro-batches add up to those of the whole batch."""
    total = 0.0
    for part in text.split(MICRO_BATCH):
        loss = next_token_loss(model, part) * len(part) / len(text)
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimizer.step()
    optimizer.zero_grad()
    return total


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    stories = make_stories()
    model = StoryModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True)

    step_times = []
    losses = []
    last = time.perf_counter()
    for step in range(STEPS):
        losses.append(train_step(model, optimizer, draw_batch(stories)))
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
