"""Trains one controller for baking ovens on a simulation of the heat in their plates."""
import statistics
import time

import torch
from torch import nn

SEED = 97
SIDE = 10
CELLS = SIDE * SIDE
HEATERS = 16
OVENS = 48
MOMENTS = 20
DELTA = 0.5
COOLING = 0.05
STEPS = 120


def second_difference(side):
    matrix = 2 * torch.eye(side)
    matrix -= torch.diag(torch.ones(side - 1), 1) + torch.diag(torch.ones(side - 1), -1)
    matrix[0, 0] = matrix[-1, -1] = 1
    return matrix


def heater_shapes():
    axis = torch.arange(SIDE).float()
    places = torch.linspace(2, SIDE - 3, 4)
    bump = torch.exp(-((axis[:, None] - places) ** 2) / 6)
    return torch.einsum("yi,xj->yxij", bump, bump).reshape(CELLS, HEATERS)


class Plate(nn.Module):
    """Implicit Euler steps of the heat equation on square plates of different metals."""

    def __init__(self, spread):
        super().__init__()
        one = torch.eye(SIDE)
        line = second_difference(SIDE)
        laplace = torch.kron(line, one) + torch.kron(one, line)
        system = (1 + DELTA * COOLING) * torch.eye(CELLS) + DELTA * spread.view(-1, 1, 1) * laplace
        self.register_buffer("system", system)
        self.register_buffer("shapes", heater_shapes())

    def forward(self, heat, power):
        pushed = heat + DELTA * power @ self.shapes.T
        return torch.linalg.solve(self.system, pushed.unsqueeze(2)).squeeze(2)


class Controller(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2 * CELLS, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, HEATERS), nn.Softplus(),
        )

    def forward(self, heat, wanted):
        return self.layers(torch.cat([heat, wanted], dim=1))


def wanted_heat(count):
    axis = torch.linspace(-1, 1, SIDE)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    place = 1.2 * torch.rand(2, count, 1, 1) - 0.6
    width = 0.3 + 0.4 * torch.rand(count, 1, 1)
    away = (x - place[0]) ** 2 + (y - place[1]) ** 2
    return (0.5 + torch.exp(-away / (2 * width ** 2))).reshape(count, CELLS)


def roll_out(plate, controller, heat, wanted):
    loss = 0.0
    for moment in range(MOMENTS):
        power = controller(heat, wanted)
        heat = plate(heat, power)
        weight = (moment + 1) / MOMENTS
        loss = loss + weight * (heat - wanted).pow(2).mean() + 1e-4 * power.pow(2).mean()
    return loss / MOMENTS


def main():
    torch.manual_seed(SEED)
    plate = Plate(spread=0.6 + 1.2 * torch.rand(OVENS))
    controller = Controller()
    optimizer = torch.optim.Adam(controller.parameters(), lr=1e-3)

    step_times, losses = [], []
    last = time.perf_counter()
    for step in range(STEPS):
        wanted = wanted_heat(OVENS)
        heat = 0.2 * torch.rand(OVENS, CELLS)
        loss = roll_out(plate, controller, heat, wanted)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(controller.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now
        if step % 20 == 0:
            print(f"step {step}: loss {losses[-1]:.5f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
