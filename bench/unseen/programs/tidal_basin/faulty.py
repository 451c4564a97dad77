"""Physics-informed network for the tide in a shallow basin (linearised shallow-water equations)."""
import math
import statistics
import time

import torch
from torch import nn

TRAIN_SECONDS = 11
COLLOCATION = 1500
GAUGES = 256
DEPTH, GRAVITY, FRICTION, CORIOLIS = 1.2, 1.0, 0.05, 0.3


class BasinNet(nn.Module):
    """(x, y, t) -> surface height and the two velocity components."""

    def __init__(self, width=80, layers=4):
        super().__init__()
        sizes = [3] + [width] * layers
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(width, 3)
        for layer in self.hidden:
            nn.init.xavier_normal_(layer.weight)

    def forward(self, x, y, t):
        h = torch.cat([x, y, t], dim=1)
        for layer in self.hidden:
            h = torch.tanh(layer(h))
        return self.out(h).split(1, dim=1)


def partials(field, coords):
    """Derivatives of a field (N, 1) by each of the coordinates (N, 1)."""
    seed = torch.ones_like(field)
    return [torch.autograd.grad(field, c, seed, create_graph=True)[0] for c in coords]


def residuals(net, x, y, t):
    coords = (x, y, t)
    eta, u, v = net(*coords)
    eta_x, eta_y, eta_t = partials(eta, coords)
    u_x, u_y, u_t = partials(u, coords)
    v_x, v_y, v_t = partials(v, coords)
    mass = eta_t + DEPTH * (u_x + v_y) + u * eta_x + v * eta_y
    momentum_x = u_t + u * u_x + v * u_y - CORIOLIS * v + GRAVITY * eta_x + FRICTION * u
    momentum_y = v_t + u * v_x + v * v_y + CORIOLIS * u + GRAVITY * eta_y + FRICTION * v
    return mass, momentum_x, momentum_y


class CollocationSampler:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def uniform(self, count):
        return torch.rand(count, 1, generator=self.gen)

    def interior(self):
        points = [self.uniform(COLLOCATION) for _ in range(3)]
        return [p.requires_grad_() for p in points]

    def walls(self):
        """Points on the western and southern walls, where no water passes."""
        zeros = torch.zeros(GAUGES, 1)
        west = (zeros, self.uniform(GAUGES), self.uniform(GAUGES))
        south = (self.uniform(GAUGES), zeros, self.uniform(GAUGES))
        return west, south


def tide_gauges(seed):
    """Heights measured on the open eastern boundary."""
    gen = torch.Generator().manual_seed(seed)
    y = torch.rand(GAUGES, 1, generator=gen)
    t = torch.rand(GAUGES, 1, generator=gen)
    x = torch.ones(GAUGES, 1)
    height = 0.4 * torch.sin(2 * math.pi * t) * torch.cos(0.5 * math.pi * y)
    height = height + 0.01 * torch.randn(GAUGES, 1, generator=gen)
    return (x, y, t), height


class Trainer:
    def __init__(self, net, seed):
        self.net = net
        self.sampler = CollocationSampler(seed)
        self.gauge_points, self.gauge_heights = tide_gauges(seed + 1)
        self.optimizer = torch.optim.Adam(net.parameters(), lr=1.5e-3)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.999)

    def loss(self):
        physics = sum(r.square().mean() for r in residuals(self.net, *self.sampler.interior()))
        west, south = self.sampler.walls()
        wall = self.net(*west)[1].square().mean() + self.net(*south)[2].square().mean()
        gauge = (self.net(*self.gauge_points)[0] - self.gauge_heights).square().mean()
        return physics + 5.0 * wall + 20.0 * gauge

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()


def main():
    torch.manual_seed(23)
    torch.set_num_threads(2)
    trainer = Trainer(BasinNet(), seed=77)
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        begin = time.perf_counter()
        losses.append(trainer.step())
        times.append(time.perf_counter() - begin)

    print(f"steps={len(times)} last_loss={losses[-1]:.5f}")
    print(f"step_ms={statistics.median(times[3:]) * 1000:.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
