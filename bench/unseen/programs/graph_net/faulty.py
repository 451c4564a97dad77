"""Forecast the next hour's load of every substation in a power grid."""

import math
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

SUBSTATIONS = 250
HISTORY = 64
MESSAGE = 32
HIDDEN = 896
HOURS = 24 * 60
STEPS = 60


def make_grid():
    """Directed edges: each substation is fed by four to ten others."""
    sources, targets = [], []
    for node in range(SUBSTATIONS):
        count = int(torch.randint(4, 11, (1,)))
        sources.append(torch.randperm(SUBSTATIONS)[:count])
        targets.append(torch.full((count,), node))
    return torch.cat(sources), torch.cat(targets)


def make_loads():
    """Hourly load of each substation, about zero mean and unit size."""
    hours = torch.arange(HOURS, dtype=torch.float32).unsqueeze(1)
    phase = torch.rand(SUBSTATIONS) * 2.0
    daily = torch.sin(hours * (2 * math.pi / 24) + phase)
    weekly = 0.4 * torch.sin(hours * (2 * math.pi / 168) + phase)
    return daily + weekly + 0.1 * torch.randn(HOURS, SUBSTATIONS)


class Grid:
    """The fixed graph and the mean over each node's feeders."""

    def __init__(self, source, target):
        self.neighbours = [source[target == node] for node in range(SUBSTATIONS)]

    def mean_of_neighbours(self, messages):
        pooled = []
        for node in range(SUBSTATIONS):
            incoming = messages[self.neighbours[node]]
            pooled.append(incoming.mean(dim=0))
        return torch.stack(pooled)


class GridLayer(nn.Module):
    def __init__(self, grid, width_in, width_out):
        super().__init__()
        self.grid = grid
        self.message = nn.Linear(width_in, MESSAGE)
        self.update = nn.Sequential(
            nn.Linear(width_in + MESSAGE, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, width_out),
            nn.ReLU(),
        )

    def forward(self, states):
        messages = self.message(states)
        pooled = self.grid.mean_of_neighbours(messages)
        return self.update(torch.cat([states, pooled], dim=1))


class LoadForecaster(nn.Module):
    def __init__(self, grid):
        super().__init__()
        self.layers = nn.ModuleList(
            [GridLayer(grid, HISTORY, HIDDEN), GridLayer(grid, HIDDEN, HIDDEN)]
        )
        self.readout = nn.Linear(HIDDEN, 1)

    def forward(self, history):
        states = history
        for layer in self.layers:
            states = layer(states)
        return self.readout(states).squeeze(1)


def main():
    torch.manual_seed(11)
    grid = Grid(*make_grid())
    loads = make_loads()
    model = LoadForecaster(grid)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    start_hours = torch.randint(0, HOURS - HISTORY, (STEPS,)).tolist()

    times = []
    for hour in start_hours:
        start = time.perf_counter()
        history = loads[hour : hour + HISTORY].t().contiguous()
        next_load = loads[hour + HISTORY]

        loss = F.mse_loss(model(history), next_load)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        final_loss = loss.item()
        times.append(time.perf_counter() - start)

    print(f"step_ms={statistics.median(times[5:]) * 1000:.2f}")
    print(f"result={final_loss:.6f}")


if __name__ == "__main__":
    main()
