"""Density model of turbine telemetry: a recurrent conditional normalising flow over sensor windows."""
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize
from torch.nn.utils.parametrizations import orthogonal

TRAIN_SECONDS = 11
SENSORS = 48
STEPS = 12
CONTEXT = 96
BLOCKS = 3
BATCH_SIZE = 128


def make_telemetry(windows=3000):
    generator = torch.Generator().manual_seed(19)
    mixing = torch.randn(6, SENSORS, generator=generator)
    phase = torch.rand(windows, 1, 6, generator=generator) * 2 * math.pi
    speed = 0.2 + torch.rand(windows, 1, 6, generator=generator)
    clock = torch.arange(STEPS).view(1, STEPS, 1)
    latent = torch.sin(speed * clock + phase)
    noise = torch.randn(windows, STEPS, SENSORS, generator=generator)
    return latent @ mixing * 0.4 + noise * 0.3


class Mixing(nn.Module):
    """Volume-preserving rotation of the channels."""

    def __init__(self, size):
        super().__init__()
        self.rotate = orthogonal(nn.Linear(size, size, bias=False))

    def forward(self, x):
        return self.rotate(x)


class Coupling(nn.Module):
    def __init__(self, size, context, hidden=192):
        super().__init__()
        self.half = size // 2
        self.net = nn.Sequential(nn.Linear(self.half + context, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(),
                                 nn.Linear(hidden, 2 * (size - self.half)))

    def forward(self, x, context):
        kept, changed = x[:, :self.half], x[:, self.half:]
        shift, scale = self.net(torch.cat([kept, context], dim=1)).chunk(2, dim=1)
        scale = torch.tanh(scale)
        return torch.cat([kept, changed * scale.exp() + shift], dim=1), scale.sum(dim=1)


class ConditionalFlow(nn.Module):
    def __init__(self):
        super().__init__()
        self.mixing = nn.ModuleList(Mixing(SENSORS) for _ in range(BLOCKS))
        self.coupling = nn.ModuleList(Coupling(SENSORS, CONTEXT) for _ in range(BLOCKS))

    def forward(self, x, context):
        logdet = x.new_zeros(len(x))
        for mix, couple in zip(self.mixing, self.coupling):
            x, delta = couple(mix(x), context)
            logdet = logdet + delta
        return x, logdet


class RecurrentFlow(nn.Module):
    """Each reading is explained given a state that has seen the earlier readings and their latents."""

    def __init__(self):
        super().__init__()
        self.flow = ConditionalFlow()
        self.cell = nn.GRUCell(2 * SENSORS, CONTEXT)

    def log_prob(self, window):
        state = window.new_zeros(len(window), CONTEXT)
        total = window.new_zeros(len(window))
        for reading in window.unbind(dim=1):
            z, logdet = self.flow(reading, state)
            total = total + logdet - 0.5 * (z * z).sum(dim=1)
            state = self.cell(torch.cat([reading, z], dim=1), state)
        return total / (STEPS * SENSORS) - 0.5 * math.log(2 * math.pi)


def negative_log_likelihood(model, window):
    return -model.log_prob(window).mean()


def train_step(model, optimizer, window):
    optimizer.zero_grad()
    loss = negative_log_likelihood(model, window)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    return loss.item()


def count_parameters(model):
    return sum(p.numel() for p in model.parameters())


def main():
    torch.set_num_threads(2)
    torch.manual_seed(5)
    data = make_telemetry()
    model = RecurrentFlow()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    picker = torch.Generator().manual_seed(23)
    print(f"parameters={count_parameters(model)} rotations={sum(parametrize.is_parametrized(m) for m in model.modules())}")
    losses, times = [], []
    started = time.perf_counter()
    while time.perf_counter() - started < TRAIN_SECONDS:
        begin = time.perf_counter()
        window = data[torch.randint(len(data), (BATCH_SIZE,), generator=picker)]
        losses.append(train_step(model, optimizer, window))
        times.append((time.perf_counter() - begin) * 1000)
    print(f"steps={len(times)} last_loss={losses[-1]:.3f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
