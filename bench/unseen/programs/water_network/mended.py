"""Estimates the chlorine level at every junction of a water network from a few gauges."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 5
JUNCTIONS = 2500
PIPES_PER_JUNCTION = 14
GAUGE_SHARE = 0.1
HOURS = 90
WIDTH = 48
LAYERS = 2
LEARNING_RATE = 2e-3


def make_network():
    """Junctions in a plane; each gets pipes to its nearest neighbours, shorter ones carry more."""
    rng = np.random.default_rng(SEED)
    places = rng.uniform(size=(JUNCTIONS, 2)).astype(np.float32)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    nearest = np.argsort(gaps, axis=1)[:, 1:PIPES_PER_JUNCTION + 1]
    target = np.repeat(np.arange(JUNCTIONS), PIPES_PER_JUNCTION)
    source = nearest.reshape(-1)
    carried = np.exp(-30 * gaps[target, source])
    total = np.bincount(target, weights=carried, minlength=JUNCTIONS)
    share = (carried / total[target]).astype(np.float32)
    return places, torch.from_numpy(source), torch.from_numpy(target), torch.from_numpy(share)


def make_hours(places):
    """Chlorine at all junctions for each hour: three dosing points and a slow change of demand."""
    rng = np.random.default_rng(SEED + 1)
    pumps = rng.uniform(size=(3, 2))
    hours = []
    for hour in range(HOURS):
        level = np.zeros(JUNCTIONS)
        for number, pump in enumerate(pumps):
            distance = np.linalg.norm(places - pump, axis=1)
            level += (1 + 0.5 * np.sin(hour / 4 + number)) * np.exp(-3 * distance)
        level += rng.normal(scale=0.02, size=JUNCTIONS)
        gauged = rng.random(JUNCTIONS) < GAUGE_SHARE
        hours.append((torch.from_numpy(level.astype(np.float32)), torch.from_numpy(gauged)))
    return hours


class PipeLayer(nn.Module):
    """Each junction collects what its neighbours send, weighted by the share of the pipe."""

    def __init__(self, source, target, share):
        super().__init__()
        self.register_buffer("source", source)
        self.register_buffer("target", target)
        self.register_buffer("share", share.unsqueeze(1))
        self.send = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH))
        self.keep = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x):
        messages = self.send(x).index_select(0, self.source)
        messages = messages * self.share
        received = torch.zeros_like(x).index_add(0, self.target, messages)
        return self.norm(x + F.gelu(self.keep(x) + received))


class ChlorineModel(nn.Module):
    def __init__(self, places, source, target, share):
        super().__init__()
        self.register_buffer("places", torch.from_numpy(places))
        self.enter = nn.Linear(4, WIDTH)
        self.layers = nn.ModuleList(PipeLayer(source, target, share) for _ in range(LAYERS))
        self.leave = nn.Linear(WIDTH, 1)

    def forward(self, level, gauged):
        known = gauged.float()
        features = torch.stack([level * known, known], dim=1)
        x = self.enter(torch.cat([features, self.places], dim=1))
        for layer in self.layers:
            x = layer(x)
        return self.leave(x).squeeze(1)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    places, source, target, share = make_network()
    hours = make_hours(places)
    model = ChlorineModel(places, source, target, share)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    for level, gauged in hours:
        started = time.perf_counter()
        predicted = model(level, gauged)
        loss = F.mse_loss(predicted[~gauged], level[~gauged])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
