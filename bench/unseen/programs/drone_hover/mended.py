"""Teaches a policy to hover a fleet of simulated drones over their landing pads in gusts of wind."""
import statistics
import time

import numpy as np
import torch
from torch import nn

SEED = 71
DRONES = 16
WORKERS = 2
MOMENTS = 64
ITERATIONS = 130
EPOCHS = 4
GAMMA = 0.97
CLIP = 0.2


class Airfield:
    """Some drones, each with position, speed, tilt and the wind around it."""

    def __init__(self, drones, seed):
        self.rng = np.random.default_rng(seed)
        self.state = self.rng.normal(0, 1, size=(drones, 8)).astype(np.float32)

    def step(self, action):
        position, speed, tilt, wind = np.split(self.state, 4, axis=1)
        wind = 0.95 * wind + self.rng.normal(0, 0.1, size=wind.shape)
        tilt = np.clip(tilt + 0.2 * np.clip(action, -1, 1), -1, 1)
        speed = 0.98 * speed + 0.1 * tilt + 0.03 * wind
        position = position + 0.1 * speed
        reward = 1 / (1 + np.square(position).sum(axis=1)) - 0.02 * np.square(speed).sum(axis=1)
        lost = np.abs(position).max(axis=1) > 3
        state = np.concatenate([position, speed, tilt, wind], axis=1)
        state[lost] = self.rng.normal(0, 1, size=(int(lost.sum()), 8))
        self.state = state.astype(np.float32)
        return self.state, reward.astype(np.float32), lost


class Fleet:
    """All airfields, simulated one after the other."""

    def __init__(self):
        self.airfields = [Airfield(DRONES // WORKERS, SEED + number) for number in range(WORKERS)]
        self.state = np.concatenate([airfield.state for airfield in self.airfields])

    def step(self, action):
        parts = np.split(action, WORKERS)
        results = [airfield.step(part) for airfield, part in zip(self.airfields, parts)]
        states, rewards, lost = zip(*results)
        self.state = np.concatenate(states)
        return self.state, np.concatenate(rewards), np.concatenate(lost)

    def close(self):
        self.airfields.clear()


def make_net(outputs):
    return nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


@torch.no_grad()
def collect(fleet, policy, spread):
    states, actions, rewards, ends = [], [], [], []
    for _ in range(MOMENTS):
        states.append(torch.from_numpy(fleet.state))
        actions.append(torch.normal(policy(states[-1]), spread))
        _, reward, lost = fleet.step(actions[-1].numpy())
        rewards.append(reward)
        ends.append(lost)
    returns = np.zeros((MOMENTS + 1, DRONES), dtype=np.float32)
    for moment in reversed(range(MOMENTS)):
        returns[moment] = rewards[moment] + GAMMA * returns[moment + 1] * ~ends[moment]
    return torch.cat(states), torch.cat(actions), torch.from_numpy(returns[:-1].reshape(-1)), np.mean(rewards)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    policy, critic, spread = make_net(2), make_net(1), 0.3
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=3e-3, fused=True)
    fleet = Fleet()

    step_times, rewards = [], []
    for iteration in range(ITERATIONS):
        start = time.perf_counter()
        states, actions, returns, reward = collect(fleet, policy, spread)
        with torch.no_grad():
            old = -((actions - policy(states)) / spread).square().sum(dim=1) / 2
            advantage = returns - critic(states).squeeze(1)
            advantage = (advantage - advantage.mean()) / advantage.std()
        for _ in range(EPOCHS):
            new = -((actions - policy(states)) / spread).square().sum(dim=1) / 2
            ratio = (new - old).exp()
            gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
            loss = (critic(states).squeeze(1) - returns).square().mean() * 0.01 - gain
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        rewards.append(float(reward))
        step_times.append(time.perf_counter() - start)
    fleet.close()

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(rewards[-10:]):.6f}")


if __name__ == "__main__":
    main()
