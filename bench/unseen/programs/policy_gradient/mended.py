"""REINFORCE on the acrobot: two links, a motor at the joint between them."""
import math
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 11
ITERATIONS = 60
ENVIRONMENTS = 16
HORIZON = 24
GAMMA = 0.97

GRAVITY = 9.8
LINK_MASS = 1.0
LINK_LENGTH = 1.0
LINK_CENTER = 0.5
LINK_INERTIA = 1.0
TORQUES = (-1.0, 0.0, 1.0)
SUBSTEPS = 5
DT = 0.04


def derivatives(state, torque):
    theta1, theta2, speed1, speed2 = state
    cos2, sin2 = math.cos(theta2), math.sin(theta2)
    coupling = LINK_MASS * LINK_LENGTH * LINK_CENTER
    d1 = (LINK_MASS * LINK_CENTER ** 2
          + LINK_MASS * (LINK_LENGTH ** 2 + LINK_CENTER ** 2) + 2 * coupling * cos2 + 2 * LINK_INERTIA)
    d2 = LINK_MASS * LINK_CENTER ** 2 + coupling * cos2 + LINK_INERTIA
    phi2 = LINK_MASS * LINK_CENTER * GRAVITY * math.sin(theta1 + theta2)
    phi1 = (-coupling * speed2 ** 2 * sin2 - 2 * coupling * speed2 * speed1 * sin2
            + LINK_MASS * (LINK_CENTER + LINK_LENGTH) * GRAVITY * math.sin(theta1) + phi2)
    acc2 = ((torque + d2 / d1 * phi1 - coupling * speed1 ** 2 * sin2 - phi2)
            / (LINK_MASS * LINK_CENTER ** 2 + LINK_INERTIA - d2 ** 2 / d1))
    acc1 = -(d2 * acc2 + phi1) / d1
    return speed1, speed2, acc1, acc2


def runge_kutta(state, torque):
    k1 = derivatives(state, torque)
    k2 = derivatives([s + 0.5 * DT * k for s, k in zip(state, k1)], torque)
    k3 = derivatives([s + 0.5 * DT * k for s, k in zip(state, k2)], torque)
    k4 = derivatives([s + DT * k for s, k in zip(state, k3)], torque)
    return [s + DT / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip(state, k1, k2, k3, k4)]


class Acrobot:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.state = [0.0, 0.0, 0.0, 0.0]

    def observe(self):
        theta1, theta2, speed1, speed2 = self.state
        return np.array([math.cos(theta1), math.sin(theta1), math.cos(theta2), math.sin(theta2),
                         speed1 / 10, speed2 / 10], dtype=np.float32)

    def reset(self):
        self.state = self.rng.uniform(-0.3, 0.3, size=4).tolist()
        return self.observe()

    def step(self, action):
        for _ in range(SUBSTEPS):
            self.state = runge_kutta(self.state, TORQUES[action])
        theta1, theta2, speed1, speed2 = self.state
        self.state = [theta1, theta2, max(-12.0, min(12.0, speed1)), max(-28.0, min(28.0, speed2))]
        height = -math.cos(theta1) - math.cos(theta1 + theta2)
        return self.observe(), height


class Policy(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(6, hidden), nn.Tanh(),
            nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, len(TORQUES)))

    def forward(self, states):
        return F.log_softmax(self.layers(states), dim=-1)


def pick(probabilities, draw):
    return min(int(np.searchsorted(np.cumsum(probabilities), draw)), len(TORQUES) - 1)


def collect(policy, environments, draws):
    """Play one episode in every environment."""
    states = np.empty((ENVIRONMENTS, HORIZON, 6), dtype=np.float32)
    actions = np.empty((ENVIRONMENTS, HORIZON), dtype=np.int64)
    rewards = np.empty((ENVIRONMENTS, HORIZON), dtype=np.float32)
    current = np.stack([environment.reset() for environment in environments])
    for t in range(HORIZON):
        with torch.no_grad():
            probabilities = policy(torch.from_numpy(current)).exp().numpy()
        states[:, t] = current
        for i, environment in enumerate(environments):
            action = pick(probabilities[i], draws[i, t])
            actions[i, t] = action
            current[i], rewards[i, t] = environment.step(action)
    return states, actions, rewards


def discounted(rewards):
    returns = np.zeros_like(rewards)
    running = np.zeros(len(rewards), dtype=np.float32)
    for t in reversed(range(HORIZON)):
        running = rewards[:, t] + GAMMA * running
        returns[:, t] = running
    return (returns - returns.mean()) / (returns.std() + 1e-6)


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    environments = [Acrobot(seed=100 + i) for i in range(ENVIRONMENTS)]
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)

    step_times = []
    for iteration in range(ITERATIONS):
        started = time.perf_counter()
        draws = rng.random((ENVIRONMENTS, HORIZON))
        states, actions, rewards = collect(policy, environments, draws)
        advantages = torch.from_numpy(discounted(rewards)).reshape(-1)

        log_probs = policy(torch.from_numpy(states).reshape(-1, 6))
        chosen = log_probs.gather(1, torch.from_numpy(actions).reshape(-1, 1)).squeeze(1)
        entropy = -(log_probs.exp() * log_probs).sum(dim=1).mean()
        loss = -(chosen * advantages).mean() - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean_reward = float(rewards.mean())
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={mean_reward:.6f}")


if __name__ == "__main__":
    main()
