"""Recognizes the accent of a speaker from frames of speech with a sparse mixture of experts."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 29
ACCENTS = 12
CLIPS = 1536
FRAMES = 48
BANDS = 40
WIDTH = 96
EXPERTS = 8
ACTIVE = 2
BATCH_SIZE = 24
STEPS = 90
BALANCE = 0.01


def make_clips():
    """Each accent moves the formants of the vowels; every speaker has his own pitch and pace."""
    rng = np.random.default_rng(SEED)
    accents = rng.integers(ACCENTS, size=CLIPS)
    vowels = rng.uniform(4, BANDS - 4, size=(6, 2))
    shifts = rng.normal(0, 2.5, size=(ACCENTS, 6, 2))
    bands = np.arange(BANDS)
    clips = np.empty((CLIPS, FRAMES, BANDS), dtype=np.float32)
    for number, accent in enumerate(accents):
        spoken = np.repeat(rng.integers(6, size=FRAMES // 4), 4)
        formants = (vowels + shifts[accent])[spoken] + rng.normal(0, 0.7, size=2)
        peaks = np.exp(-0.5 * ((bands - formants[:, :, None]) / 1.5) ** 2)
        clips[number] = peaks.sum(axis=1) + rng.normal(0, 0.3, size=(FRAMES, BANDS))
    return torch.from_numpy(clips), torch.from_numpy(accents)


class Expert(nn.Module):
    def __init__(self, hidden=3 * WIDTH):
        super().__init__()
        self.up = nn.Linear(WIDTH, hidden)
        self.down = nn.Linear(hidden, WIDTH)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class ExpertLayer(nn.Module):
    """A gate sends every frame to the two experts that suit it best."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))

    def forward(self, x):
        frames = x.reshape(-1, WIDTH)
        chances = self.gate(frames).softmax(dim=-1)
        best, chosen = chances.topk(ACTIVE, dim=-1)
        best = best / best.sum(dim=-1, keepdim=True)
        weights = torch.zeros_like(chances).scatter(1, chosen, best)
        mixed = torch.zeros_like(frames)
        for number, expert in enumerate(self.experts):
            rows = (chosen == number).any(dim=1).nonzero().squeeze(1)
            sent = expert(frames.index_select(0, rows))
            weight = weights[:, number].index_select(0, rows).unsqueeze(1)
            mixed = mixed.index_add(0, rows, sent * weight)
        share = (weights > 0).float().mean(dim=0) / ACTIVE
        balance = EXPERTS * (share * chances.mean(dim=0)).sum()
        return mixed.view_as(x), balance


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.expert_norm = nn.LayerNorm(WIDTH)
        self.expert_layer = ExpertLayer()

    def forward(self, x):
        normed = self.attention_norm(x)
        x = x + self.attention(normed, normed, normed, need_weights=False)[0]
        mixed, balance = self.expert_layer(self.expert_norm(x))
        return x + mixed, balance


class AccentModel(nn.Module):
    def __init__(self, blocks=2):
        super().__init__()
        self.frames = nn.Conv1d(BANDS, WIDTH, 3, padding=1)
        self.blocks = nn.ModuleList(Block() for _ in range(blocks))
        self.classifier = nn.Linear(WIDTH, ACCENTS)

    def forward(self, clips):
        x = self.frames(clips.transpose(1, 2)).transpose(1, 2)
        balances = []
        for block in self.blocks:
            x, balance = block(x)
            balances.append(balance)
        return self.classifier(x.mean(dim=1)), torch.stack(balances).mean()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    clips, accents = make_clips()
    model = AccentModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    step_times = []
    losses = []
    for step in range(STEPS):
        start = time.perf_counter()
        rows = torch.randint(CLIPS, (BATCH_SIZE,))
        scores, balance = model(clips[rows])
        loss = F.cross_entropy(scores, accents[rows]) + BALANCE * balance
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - start)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
