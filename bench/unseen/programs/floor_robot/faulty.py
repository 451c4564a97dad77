"""Learns by TD(lambda) how much dust a cleaning robot will find from where it is."""
import statistics
import time

import numpy as np
import torch
from torch import nn

SEED = 83
TILINGS = 6
TILES = 24
FEATURES = TILINGS * TILES * TILES
HIDDEN = 96
MOMENTS = 9000
SPEED = 0.35
GAMMA = 0.9
LAMBDA = 0.8
LEARNING_RATE = 0.02


class Flat:
    """A flat of TILES x TILES units in which dust falls, more in some corners than in others."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        rows, columns = np.mgrid[:TILES, :TILES]
        self.rate = np.full((TILES, TILES), 0.002)
        for _ in range(4):
            y, x = self.rng.uniform(0, TILES, size=2)
            self.rate += 0.03 * np.exp(-((rows - y) ** 2 + (columns - x) ** 2) / 12)
        self.dust = self.rate * 40
        self.place = np.array([TILES / 2, TILES / 2])
        self.heading = 0.0

    def move(self):
        self.heading += self.rng.normal(0, 0.2)
        step = SPEED * np.array([np.cos(self.heading), np.sin(self.heading)])
        place = self.place + step
        if (place < 0).any() or (place >= TILES).any():
            self.heading = self.rng.uniform(-np.pi, np.pi)
            place = place.clip(0, TILES - 1e-6)
        self.place = place
        self.dust += self.rate
        row, column = self.place.astype(int)
        found = self.dust[row, column]
        self.dust[row, column] = 0.0
        return float(found)


class TileCoder:
    def __init__(self):
        shift = torch.arange(TILINGS) / TILINGS
        self.shift = torch.stack([shift, (shift * 3) % 1], dim=1)
        self.base = torch.arange(TILINGS) * TILES * TILES

    def __call__(self, place):
        tiles = (torch.from_numpy(place).float() + self.shift).long().clamp_(max=TILES - 1)
        features = torch.zeros(FEATURES)
        features[self.base + tiles[:, 0] * TILES + tiles[:, 1]] = 1.0
        return features


class ValueNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(FEATURES, HIDDEN)
        self.value = nn.Linear(HIDDEN, 1)
        nn.init.normal_(self.hidden.weight, std=0.3)

    def forward(self, features):
        return self.value(torch.tanh(self.hidden(features))).squeeze(-1)


class TDLearner:
    """Semi-gradient TD(lambda) with accumulating eligibility traces; the task never ends."""

    def __init__(self, network):
        self.network = network
        self.parameters = list(network.parameters())
        self.traces = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.value = None

    def start(self, features):
        self.see(features)

    def see(self, features):
        self.value = self.network(features)
        gradients = torch.autograd.grad(self.value, self.parameters)
        for trace, gradient in zip(self.traces, gradients):
            trace.mul_(GAMMA * LAMBDA).add_(gradient)

    @torch.no_grad()
    def surprise(self, reward, features):
        return reward + GAMMA * self.network(features).item() - self.value.item()

    @torch.no_grad()
    def correct(self, error):
        for parameter, trace in zip(self.parameters, self.traces):
            parameter.add_(trace, alpha=LEARNING_RATE * error)

    def step(self, reward, features):
        error = self.surprise(reward, features)
        self.correct(error)
        self.see(features)
        return error


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    flat = Flat(SEED)
    coder = TileCoder()
    learner = TDLearner(ValueNetwork())
    learner.start(coder(flat.place))

    step_times, errors = [], []
    last = time.perf_counter()
    for moment in range(MOMENTS):
        reward = flat.move()
        errors.append(abs(learner.step(reward, coder(flat.place))))
        now = time.perf_counter()
        step_times.append(now - last)
        last = now
        if (moment + 1) % 2000 == 0:
            print(f"moment {moment + 1}: mean surprise {statistics.mean(errors[-2000:]):.4f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.3f}")
    print(f"result={statistics.mean(errors[-1000:]):.6f}")


if __name__ == "__main__":
    main()
