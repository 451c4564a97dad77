"""Trains a differentiable rainfall-runoff model: a network sets the daily parameters of a bucket simulation of catchments."""
import statistics
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
CATCHMENTS = 160
DAYS = 1460
WINDOW = 120
WARM_UP = 20
BATCH = 48
UNITS = 32
WIDTH = 48
ATTRIBUTES = 8
RANGES = {"degree_day": (0.5, 6.0), "field_capacity": (60.0, 400.0), "beta": (1.0, 5.0),
          "quick": (0.1, 0.8), "slow": (0.005, 0.1), "percolation": (0.2, 3.0)}


def make_catchments(seed):
    """Daily rain, temperature and potential evaporation of each catchment, its attributes and an observed runoff."""
    rng = np.random.default_rng(seed)
    attributes = rng.normal(size=(CATCHMENTS, ATTRIBUTES)).astype(np.float32)
    day = np.arange(DAYS)
    warmth = 9 + 3 * attributes[:, :1] + 10 * np.sin(2 * np.pi * (day - 110) / 365) + 2.5 * rng.normal(size=(CATCHMENTS, DAYS))
    wet = rng.random((CATCHMENTS, DAYS)) < 0.35 + 0.05 * np.tanh(attributes[:, 1:2])
    rain = wet * rng.gamma(0.8, 9.0, size=(CATCHMENTS, DAYS))
    evaporation = np.clip(0.18 * warmth, 0.1, None)
    flow = np.empty((CATCHMENTS, DAYS))
    storage, snow = np.full(CATCHMENTS, 80.0), np.zeros(CATCHMENTS)
    rate = 0.03 + 0.04 / (1 + np.exp(-attributes[:, 2]))
    for t in range(DAYS):
        frozen = np.where(warmth[:, t] < 0, rain[:, t], 0.0)
        melt = np.minimum(snow, 3.0 * np.clip(warmth[:, t], 0, None))
        snow += frozen - melt
        storage += rain[:, t] - frozen + melt
        storage -= np.minimum(storage, evaporation[:, t])
        flow[:, t] = rate * storage + 0.4 * np.clip(storage - 150, 0, None)
        storage -= flow[:, t]
    flow *= np.exp(0.08 * rng.normal(size=flow.shape))
    weather = np.stack([rain, warmth, evaporation], axis=-1).astype(np.float32)
    return torch.from_numpy(weather), torch.from_numpy(attributes), torch.from_numpy(flow.astype(np.float32))


class ParameterNetwork(nn.Module):
    """Reads the weather and the attributes; gives each day and each unit of a catchment its parameters."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(3 + ATTRIBUTES, WIDTH)
        self.past = nn.Conv1d(WIDTH, WIDTH, 7)
        self.leave = nn.Linear(WIDTH, len(RANGES) * UNITS)
        low, high = torch.tensor(list(RANGES.values())).T
        self.register_buffer("low", low[:, None])
        self.register_buffer("span", (high - low)[:, None])

    def forward(self, weather, attributes):
        scaled = weather / weather.new_tensor([10.0, 10.0, 3.0])
        joined = torch.cat([scaled, attributes[:, None].expand(-1, weather.shape[1], -1)], dim=-1)
        hidden = F.relu(self.enter(joined)).transpose(1, 2)
        hidden = F.relu(self.past(F.pad(hidden, (6, 0)))).transpose(1, 2)
        share = self.leave(hidden).unflatten(-1, (len(RANGES), UNITS)).sigmoid()
        return self.low + self.span * share


class BucketModel(nn.Module):
    """Snow, soil and two groundwater stores (after HBV) of UNITS parallel units in each catchment."""

    def one_day(self, stores, weather, parameters):
        snow, soil, upper, lower = stores
        rain, warmth, evaporation = weather.unsqueeze(-1).unbind(1)
        degree_day, capacity, beta, quick, slow, percolation = parameters.unbind(1)
        frost = torch.sigmoid(-2 * warmth)
        melt = torch.minimum(snow, degree_day * F.relu(warmth))
        snow = snow + rain * frost - melt
        water = rain * (1 - frost) + melt
        recharge = water * (soil / capacity).clamp(1e-4, 1.0) ** beta
        soil = soil + water - recharge
        soil = soil - torch.minimum(soil, evaporation * (soil / capacity).clamp(max=1.0))
        upper = upper + recharge
        sinking = torch.minimum(upper, percolation)
        upper, lower = upper - sinking, lower + sinking
        quick_flow, slow_flow = quick * upper, slow * lower
        return (snow, soil, upper - quick_flow, lower - slow_flow), (quick_flow + slow_flow).mean(-1)

    def forward(self, weather, parameters):
        empty = weather.new_zeros(len(weather), UNITS)
        stores = (empty, empty + 60.0, empty + 5.0, empty + 40.0)
        flows = []
        for today, settings in zip(weather.unbind(1), parameters.unbind(1)):
            stores, flow = self.one_day(stores, today, settings)
            flows.append(flow)
        return torch.stack(flows, dim=1)


class RunoffModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.network, self.buckets = ParameterNetwork(), BucketModel()

    def forward(self, weather, attributes):
        return self.buckets(weather, self.network(weather, attributes))


def windows(weather, attributes, flow, seed):
    """Endless batches: BATCH random catchments, from each a window of WINDOW days that starts at random."""
    generator = torch.Generator().manual_seed(seed)
    days = torch.arange(WINDOW)
    while True:
        catchment = torch.randperm(CATCHMENTS, generator=generator)[:BATCH]
        first = torch.randint(DAYS - WINDOW, (BATCH,), generator=generator)
        place = (catchment[:, None], first[:, None] + days)
        yield weather[place], attributes[catchment], flow[place]


def runoff_loss(simulated, observed):
    """Squared error of the root of the flow after the warm-up, relative to its variance in each window."""
    simulated, observed = (values[:, WARM_UP:].clamp(min=1e-3).sqrt() for values in (simulated, observed))
    return ((simulated - observed).square().mean(1) / (observed.var(1) + 0.1)).mean()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    batches = windows(*make_catchments(51), seed=52)
    model = RunoffModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        weather, attributes, observed = next(batches)
        loss = runoff_loss(model(weather, attributes), observed)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        times.append((time.perf_counter() - began) * 1e3)
    print(f"last_losses={statistics.mean(losses[-10:]):.4f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:6]) / 6:.4f}")


if __name__ == "__main__":
    main()
