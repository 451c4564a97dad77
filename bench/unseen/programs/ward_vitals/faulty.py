"""Warns of worsening patients from irregular measurements on a ward (a GRU with decay)."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 53
PATIENTS = 1536
MOMENTS = 192
SIGNALS = 12
HIDDEN = 128
BATCH_SIZE = 64
EPOCHS = 2
LEARNING_RATE = 2e-3


def make_records():
    rng = np.random.default_rng(SEED)
    level = rng.normal(size=(PATIENTS, 1, SIGNALS))
    drift = np.cumsum(rng.normal(scale=0.15, size=(PATIENTS, MOMENTS, SIGNALS)), axis=1)
    values = level + drift + rng.normal(scale=0.2, size=drift.shape)
    seen = rng.random(values.shape) < 0.35
    gaps = rng.exponential(0.5, size=(PATIENTS, MOMENTS, 1))
    danger = drift[..., :4].mean(axis=2) - drift[..., 4:6].mean(axis=2)
    worse = danger > 0.6
    inputs = np.concatenate([np.where(seen, values, 0.0), seen], axis=2)
    return (torch.tensor(inputs, dtype=torch.float32),
            torch.tensor(gaps, dtype=torch.float32),
            torch.tensor(worse, dtype=torch.float32))


class DecayCell(nn.Module):
    """Lets the state fade with the time since the last measurement, then updates it."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.fade = nn.Linear(1, hidden)
        self.cell = nn.GRUCell(inputs, hidden)

    def forward(self, inputs, gap, state):
        state = state * torch.exp(-F.relu(self.fade(gap)))
        return self.cell(inputs, state)


class WardModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.recur = DecayCell(2 * SIGNALS, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN)
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, inputs, gaps):
        patients = inputs.shape[0]
        state = inputs.new_zeros(patients, HIDDEN)
        states = inputs.new_zeros(patients, 0, HIDDEN)
        for moment in range(inputs.shape[1]):
            state = self.recur(inputs[:, moment], gaps[:, moment], state)
            states = torch.cat([states, state.unsqueeze(1)], dim=1)
        return self.head(self.norm(states)).squeeze(2)


class Ward:
    def __init__(self):
        self.model = WardModel()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=LEARNING_RATE)

    def learn(self, inputs, gaps, worse):
        warnings = self.model(inputs, gaps)
        loss = F.binary_cross_entropy_with_logits(warnings, worse)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        right = ((warnings > 0) == (worse > 0.5)).float().mean()
        return loss.item(), right.item()


def main():
    torch.manual_seed(SEED)
    inputs, gaps, worse = make_records()
    ward = Ward()
    print(f"{PATIENTS} patients, {worse.mean():.2f} of the moments in danger")
    losses, step_times = [], []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for rows in torch.randperm(PATIENTS).split(BATCH_SIZE):
            loss, right = ward.learn(inputs[rows], gaps[rows], worse[rows])
            losses.append(loss)
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if len(losses) % 8 == 0:
                print(f"step {len(losses)}: loss {loss:.4f}, right {right:.3f}")

    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-8:]):.6f}")


if __name__ == "__main__":
    main()
