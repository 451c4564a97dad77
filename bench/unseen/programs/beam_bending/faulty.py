"""Fits a deep narrow network to the bending of beams; the beam equation helps where nothing was measured."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 61
MEASURED = 400
POINTS = 128
STEPS = 120
WIDTH = 24
LAYERS = 40
LEARNING_RATE = 1e-3
EQUATION_WEIGHT = 0.05


def load_at(place):
    return torch.sin(3 * place)


def make_measurements():
    """Places along the beam and the bending that was measured there, with some noise."""
    rng = np.random.default_rng(SEED)
    place = rng.uniform(0, 3, size=(MEASURED, 1))
    bending = -np.sin(3 * place) / 9 + 0.05 * place + rng.normal(scale=0.005, size=place.shape)
    return torch.from_numpy(place.astype(np.float32)), torch.from_numpy(bending.astype(np.float32))


class BeamNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(1, WIDTH)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))
        self.leave = nn.Linear(WIDTH, 1)

    def forward(self, place):
        x = torch.tanh(self.enter(place))
        for layer in self.layers:
            x = x + 0.2 * torch.tanh(layer(x))
        return self.leave(x)


def slope(outputs, place):
    return torch.autograd.grad(outputs.sum(), place, create_graph=True)[0]


class Beam:
    """Bending of the beam and its derivatives along the beam."""

    def __init__(self, model):
        self.model = model

    def bending(self, place):
        return self.model(place)

    def tilt(self, place):
        return slope(self.bending(place), place)

    def curvature(self, place):
        return slope(self.tilt(place), place)


def equation_loss(beam, place):
    """Curvature answers to the load, less a little for the tilt and the bed under the beam."""
    residual = beam.curvature(place) - load_at(place)
    residual = residual + 0.01 * beam.tilt(place) + 0.02 * beam.bending(place)
    return residual.square().mean()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    place, bending = make_measurements()
    model = BeamNet()
    beam = Beam(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)

    step_times = []
    losses = []
    for step in range(STEPS):
        started = time.perf_counter()
        points = (3 * torch.rand(POINTS, 1)).requires_grad_()
        loss = F.mse_loss(model(place), bending) + EQUATION_WEIGHT * equation_loss(beam, points)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
