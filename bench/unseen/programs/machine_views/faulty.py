"""Learns features of machine states without labels, from two disturbed views (BYOL)."""
import copy
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 29
STATES = 12000
SENSORS = 60
FACTORS = 8
WIDTH = 96
BLOCKS = 12
CODE = 48
BATCH_SIZE = 256
STEPS = 60
DECAY = 0.99
CORRUPTED = 0.3
LEARNING_RATE = 1e-3


def make_states():
    """Sensor values that hang on a few hidden factors, with noise."""
    rng = np.random.default_rng(SEED)
    factors = rng.normal(size=(STATES, FACTORS))
    mixing = rng.normal(size=(FACTORS, SENSORS))
    values = np.tanh(factors @ mixing / 2) + rng.normal(scale=0.1, size=(STATES, SENSORS))
    return torch.from_numpy(values.astype(np.float32))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, 2 * WIDTH)
        self.narrow = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.narrow(F.relu(self.wide(self.norm(x))))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(SENSORS, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.project = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CODE))

    def forward(self, states):
        return self.project(self.blocks(self.enter(states)))


class ViewLearner(nn.Module):
    """An online encoder that predicts the codes of a slowly following target encoder."""

    def __init__(self):
        super().__init__()
        self.online = Encoder()
        self.predictor = nn.Sequential(nn.Linear(CODE, WIDTH), nn.ReLU(), nn.Linear(WIDTH, CODE))
        self.target = copy.deepcopy(self.online).requires_grad_(False)

    def forward(self, first, second):
        views = torch.cat([first, second])
        predicted = self.predictor(self.online(views))
        with torch.no_grad():
            goals = self.target(torch.cat([second, first]))
        return -F.cosine_similarity(predicted, goals, dim=1).mean()

    @torch.no_grad()
    def follow(self):
        for name, parameter in self.online.named_parameters():
            followed = self.target.state_dict()[name]
            followed.mul_(DECAY).add_(parameter, alpha=1 - DECAY)


def disturb(states, pool):
    """Replace a part of the sensor values by those of other states."""
    others = pool[torch.randint(len(pool), (len(states),))]
    return torch.where(torch.rand(states.shape) < CORRUPTED, others, states)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    states = make_states()
    learner = ViewLearner()
    trained = list(learner.online.parameters()) + list(learner.predictor.parameters())
    optimizer = torch.optim.Adam(trained, lr=LEARNING_RATE, fused=True)

    step_times = []
    losses = []
    for step in range(STEPS):
        began = time.perf_counter()
        batch = states[torch.randint(STATES, (BATCH_SIZE,))]
        loss = learner(disturb(batch, states), disturb(batch, states))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        learner.follow()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - began)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
