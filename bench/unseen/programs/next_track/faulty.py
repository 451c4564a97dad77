"""Recommends the next track of a listening session with a causal transformer."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

SEED = 31
TRACKS = 1200
GENRES = 30
SESSIONS = 2000
LENGTH = 50
WIDTH = 64
HEADS = 2
BLOCKS = 3
BATCH_SIZE = 20
LEARNING_RATE = 1e-3


def make_sessions():
    """Listeners stay in a genre for a while and prefer its popular tracks."""
    rng = np.random.default_rng(SEED)
    per_genre = TRACKS // GENRES
    popularity = 1.0 / np.arange(2, per_genre + 2)
    popularity /= popularity.sum()
    sessions = np.empty((SESSIONS, LENGTH + 1), dtype=np.int64)
    for row in range(SESSIONS):
        changes = rng.random(LENGTH + 1) < 0.08
        genres = rng.integers(GENRES, size=LENGTH + 1)[np.cumsum(changes)]
        ranks = rng.choice(per_genre, size=LENGTH + 1, p=popularity)
        sessions[row] = genres * per_genre + ranks
    return torch.from_numpy(sessions)


class SessionBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.query_key_value = nn.Linear(WIDTH, 3 * WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.feed_norm = nn.LayerNorm(WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def attend(self, x):
        batch, length, _ = x.shape
        projected = self.query_key_value(x).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = projected.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.mix(mixed.transpose(1, 2).reshape(batch, length, WIDTH))

    def forward(self, x):
        x = x + self.attend(self.attention_norm(x))
        return x + self.feed(self.feed_norm(x))


class NextTrackModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tracks = nn.Embedding(TRACKS, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(SessionBlock() for _ in range(BLOCKS))
        self.norm = nn.LayerNorm(WIDTH)
        nn.init.normal_(self.tracks.weight, std=0.05)

    def forward(self, history):
        x = self.tracks(history) + self.positions.weight
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.norm(x)

    def score(self, states, candidates):
        return (states.unsqueeze(2) * self.tracks(candidates)).sum(dim=3)


def session_loss(model, sessions, generator):
    """Binary loss of the track that was played against one that was not."""
    history, played = sessions[:, :-1], sessions[:, 1:]
    others = torch.randint(TRACKS, played.shape, generator=generator)
    candidates = torch.stack([played, others], dim=2)
    scores = model.score(model(history), candidates)
    labels = torch.zeros_like(scores)
    labels[:, :, 0] = 1
    return F.binary_cross_entropy_with_logits(scores, labels)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    loader = DataLoader(TensorDataset(make_sessions()), batch_size=BATCH_SIZE, shuffle=True)
    model = NextTrackModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    model.train()
    step_times = []
    losses = []
    started = time.perf_counter()
    for (sessions,) in loader:
        loss = session_loss(model, sessions, generator)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - started)
        started = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
