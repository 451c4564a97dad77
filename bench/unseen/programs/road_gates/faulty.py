"""Forecasts the traffic speed at road crossings with a gated graph network."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 5
CROSSINGS = 2000
NEIGHBOURS = 8
HISTORY = 12
WIDTH = 64
LAYERS = 2
STEPS = 60
LEARNING_RATE = 2e-3


def make_roads(rng):
    """Connect each crossing with its nearest neighbours; returns both ends and the lengths."""
    places = rng.uniform(0, 40, size=(CROSSINGS, 2))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :NEIGHBOURS]
    target = np.repeat(np.arange(CROSSINGS), NEIGHBOURS)
    source = nearest.reshape(-1)
    lengths = distances[target, source]
    return (
        torch.from_numpy(source),
        torch.from_numpy(target),
        torch.from_numpy(lengths.astype(np.float32)).unsqueeze(1),
    )


def make_speeds(rng, source, target, hours):
    """Speeds that drift, spread along the roads and have a daily rhythm."""
    source, target = source.numpy(), target.numpy()
    base = rng.uniform(30, 90, size=CROSSINGS)
    rush = rng.uniform(5, 25, size=CROSSINGS)
    jam = np.zeros(CROSSINGS)
    speeds = np.zeros((hours, CROSSINGS))
    for hour in range(hours):
        spread = np.bincount(target, weights=jam[source], minlength=CROSSINGS) / NEIGHBOURS
        jam = 0.5 * jam + 0.4 * spread + rng.exponential(2.0, size=CROSSINGS)
        daily = np.maximum(np.sin(2 * np.pi * hour / 24), 0)
        speeds[hour] = base - rush * daily - jam
    speeds = (speeds - speeds.mean()) / speeds.std()
    return torch.from_numpy(speeds.astype(np.float32))


class GatedRoadLayer(nn.Module):
    """Adds up what the neighbours send, each multiplied by a gate of the road between."""

    def __init__(self, source, target):
        super().__init__()
        self.register_buffer("source", source)
        self.register_buffer("target", target)
        self.own = nn.Linear(WIDTH, WIDTH)
        self.send = nn.Linear(WIDTH, WIDTH)
        self.gate_from = nn.Linear(WIDTH, WIDTH)
        self.gate_to = nn.Linear(WIDTH, WIDTH)
        self.gate_road = nn.Linear(1, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x, lengths):
        sent = self.send(x)[self.source]
        gate_from = self.gate_from(x)[self.source]
        gate_to = self.gate_to(x)[self.target]
        gate = torch.sigmoid(gate_from + gate_to + self.gate_road(lengths))
        received = torch.zeros_like(x).index_add(0, self.target, gate * sent)
        return x + F.relu(self.norm(self.own(x) + received))


class RoadModel(nn.Module):
    def __init__(self, source, target):
        super().__init__()
        self.enter = nn.Linear(HISTORY, WIDTH)
        self.layers = nn.ModuleList(GatedRoadLayer(source, target) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, history, lengths):
        x = self.enter(history)
        for layer in self.layers:
            x = layer(x, lengths)
        return self.head(x).squeeze(1)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    source, target, lengths = make_roads(rng)
    speeds = make_speeds(rng, source, target, STEPS + HISTORY + 1)
    model = RoadModel(source, target)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    starts = torch.randperm(STEPS).tolist()
    for start in starts:
        began = time.perf_counter()
        history = speeds[start:start + HISTORY].T
        following = speeds[start + HISTORY]
        loss = F.mse_loss(model(history, lengths), following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - began)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
