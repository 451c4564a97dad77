"""Gliders learn by policy gradient to stay in the rising air (REINFORCE with a baseline)."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 71
GLIDERS = 6
MOMENTS = 400
FLIGHTS = 132
GAMMA = 0.99
TURNS = np.array([-0.3, 0.0, 0.3])
LEARNING_RATE = 1e-3
ENTROPY_WEIGHT = 0.01


class Sky:
    """Thermals over a plain; a glider sinks unless it circles in one of them."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.thermals = self.rng.uniform(-4, 4, size=(5, 2))
        self.strength = self.rng.uniform(0.5, 1.5, size=5)
        self.places = self.rng.uniform(-2, 2, size=(GLIDERS, 2))
        self.headings = self.rng.uniform(0, 2 * np.pi, size=GLIDERS)
        return self.view()

    def view(self):
        ahead = np.stack([np.cos(self.headings), np.sin(self.headings)], axis=1)
        side = ahead[:, ::-1] * np.array([-1, 1])
        spots = self.places + np.stack([0 * ahead, 0.3 * ahead, 0.5 * side, -0.5 * side])
        distances = ((spots[:, :, None] - self.thermals) ** 2).sum(axis=3)
        lifts = np.exp(-distances) @ self.strength
        self.here = lifts[0]
        lifts[1:] -= lifts[0]
        return np.concatenate([lifts.T, self.places / 4, ahead], axis=1).astype(np.float32)

    def fly(self, turns):
        self.headings += TURNS[turns]
        self.places[:, 0] += 0.12 * np.cos(self.headings)
        self.places[:, 1] += 0.12 * np.sin(self.headings)
        view = self.view()
        outside = np.maximum(0, np.abs(self.places).max(axis=1) - 5)
        return view, self.here - 0.4 - outside


class Pilot(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.turn = nn.Linear(64, len(TURNS))
        self.value = nn.Linear(64, 1)

    def forward(self, views):
        body = self.body(views)
        return F.log_softmax(self.turn(body), dim=-1), self.value(body).squeeze(-1)


@torch.no_grad()
def fly_together(sky, pilot, rng):
    views, turns, rewards = [], [], []
    view = sky.reset()
    for _ in range(MOMENTS):
        log_chances, _ = pilot(torch.from_numpy(view))
        chances = log_chances.exp().numpy()
        draws = rng.random((GLIDERS, 1))
        turn = (chances.cumsum(axis=1) < draws).sum(axis=1).clip(max=len(TURNS) - 1)
        views.append(view)
        turns.append(turn)
        view, reward = sky.fly(turn)
        rewards.append(reward)
    return (torch.from_numpy(np.stack(views, axis=1)), torch.from_numpy(np.stack(turns, axis=1)),
            np.stack(rewards, axis=1).tolist())


def returns_of(rewards):
    returns = []
    for moment in range(len(rewards)):
        ahead = sum(GAMMA**delay * reward for delay, reward in enumerate(rewards[moment:]))
        returns.append(ahead)
    return returns


def learn(pilot, optimizer, views, turns, returns):
    log_chances, values = pilot(views)
    chosen = log_chances.gather(1, turns.unsqueeze(2)).squeeze(2)
    advantages = returns - values.detach()
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    entropy = -(log_chances.exp() * log_chances).sum(dim=2).mean()
    loss = (-(chosen * advantages).mean() + 0.5 * F.smooth_l1_loss(values, returns)
            - ENTROPY_WEIGHT * entropy)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    sky, pilot = Sky(SEED), Pilot()
    optimizer = torch.optim.Adam(pilot.parameters(), lr=LEARNING_RATE)
    totals, step_times = [], []
    for flight in range(FLIGHTS):
        start = time.perf_counter()
        views, turns, rewards = fly_together(sky, pilot, rng)
        returns = torch.tensor([returns_of(of_glider) for of_glider in rewards])
        loss = learn(pilot, optimizer, views, turns, returns)
        totals.append(statistics.mean(map(sum, rewards)))
        step_times.append(time.perf_counter() - start)
        if (flight + 1) % 22 == 0:
            print(f"flight {flight + 1}: loss {loss:.4f}, climb {statistics.mean(totals[-22:]):.2f}")

    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(totals[-50:]):.6f}")


if __name__ == "__main__":
    main()
