"""Trains an agent with PPO to keep the water level of a lock chamber at its mark."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F

SEED = 59
CHAMBERS = 32
HORIZON = 64
OBSERVED = 6
ACTIONS = 3
HIDDEN = 64
GAMMA, LAMBDA = 0.98, 0.95
CLIP = 0.2
EPOCHS = 2
MINIBATCH = 512
LEARNING_RATE = 1e-3
RUN_SECONDS = 12.5
COMPARED_STEPS = 20


class LockChambers:
    """Many lock chambers, simulated together."""

    def __init__(self):
        self.rng = np.random.default_rng(SEED)
        self.level = self.rng.uniform(-1, 1, CHAMBERS)
        self.flow = np.zeros(CHAMBERS)
        self.mark = self.rng.uniform(-1, 1, CHAMBERS)
        self.age = self.rng.integers(0, 100, CHAMBERS)

    def observe(self):
        gap = self.mark - self.level
        columns = (self.level, self.flow, self.mark, gap, np.abs(gap), self.age / 100)
        return torch.from_numpy(np.stack(columns, axis=1).astype(np.float32))

    def step(self, actions):
        self.flow = 0.8 * self.flow + 0.05 * (actions - 1) + self.rng.normal(0, 0.01, CHAMBERS)
        self.level = np.clip(self.level + self.flow, -2, 2)
        reward = -np.abs(self.mark - self.level) - 0.02 * (actions != 1)
        self.age += 1
        done = self.age >= 100
        self.level[done] = self.rng.uniform(-1, 1, done.sum())
        self.mark[done] = self.rng.uniform(-1, 1, done.sum())
        self.flow[done] = 0
        self.age[done] = 0
        return torch.from_numpy(reward.astype(np.float32)), torch.from_numpy(done.astype(np.float32))


class Agent(nn.Module):
    def __init__(self):
        super().__init__()

        def network(outputs):
            return nn.Sequential(
                nn.Linear(OBSERVED, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, outputs)
            )

        self.actor, self.critic = network(ACTIONS), network(1)

    def forward(self, observed):
        return Categorical(logits=self.actor(observed)), self.critic(observed).squeeze(-1)


@torch.no_grad()
def collect(agent, chambers):
    observed, actions, log_probs, rewards, dones, values = [], [], [], [], [], []
    for _ in range(HORIZON):
        observed.append(chambers.observe())
        policy, value = agent(observed[-1])
        action = policy.sample()
        reward, done = chambers.step(action.numpy())
        actions.append(action)
        log_probs.append(policy.log_prob(action))
        rewards.append(reward)
        dones.append(done)
        values.append(value)
    values.append(agent(chambers.observe())[1])
    return [torch.stack(column) for column in (observed, actions, log_probs, rewards, dones, values)]


def estimate_advantages(rewards, dones, values):
    advantages = torch.zeros(HORIZON, CHAMBERS)
    running = torch.zeros(CHAMBERS)
    for moment in reversed(range(HORIZON)):
        alive = 1 - dones[moment]
        delta = rewards[moment] + GAMMA * values[moment + 1] * alive - values[moment]
        running = delta + GAMMA * LAMBDA * alive * running
        advantages[moment] = running
    return advantages


def update(agent, optimizer, observed, actions, log_probs, advantages, returns):
    for _ in range(EPOCHS):
        for rows in torch.randperm(HORIZON * CHAMBERS).split(MINIBATCH):
            policy, value = agent(observed[rows])
            ratio = torch.exp(policy.log_prob(actions[rows]) - log_probs[rows])
            gain = advantages[rows]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            actor_loss = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            loss = actor_loss + 0.5 * F.mse_loss(value, returns[rows]) - 0.01 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def main():
    started = time.perf_counter()
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    agent, chambers = Agent(), LockChambers()
    optimizer = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE)

    step_times, scores = [], []
    while time.perf_counter() - started < RUN_SECONDS:
        began = time.perf_counter()
        observed, actions, log_probs, rewards, dones, values = collect(agent, chambers)
        advantages = estimate_advantages(rewards, dones, values)
        returns = advantages + values[:-1]
        batch = (column.flatten(0, 1) for column in (observed, actions, log_probs, advantages, returns))
        update(agent, optimizer, *batch)
        scores.append(rewards.mean().item())
        step_times.append(time.perf_counter() - began)
        if len(scores) % 25 == 0:
            print(f"iteration {len(scores)}: reward {statistics.mean(scores[-25:]):.4f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(scores[:COMPARED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
