"""Teaches a simulated arm of eight joints to reach targets, with PPO."""
import statistics
import time

import torch
from torch import nn
from torch.distributions import Independent, Normal
from torch.nn import functional as F

SEED = 29
ARMS = 48
JOINTS = 8
MOMENTS = 24
EPOCHS = 3
MINIBATCH = 288
WIDTH = 128
ITERATIONS = 45
DISCOUNT = 0.95
CLIP = 0.2
LEARNING_RATE = 5e-4


class ArmWorld:
    """Many flat arms at once; the reward is the closeness of the hand to the target."""

    def __init__(self):
        self.lengths = torch.linspace(0.25, 0.1, JOINTS)
        self.generator = torch.Generator().manual_seed(SEED)
        self.reset()

    def reset(self):
        self.angles = 0.3 * torch.randn(ARMS, JOINTS, generator=self.generator)
        direction = 6.28 * torch.rand(ARMS, generator=self.generator)
        distance = 0.4 + 0.6 * torch.rand(ARMS, generator=self.generator)
        self.targets = torch.stack([distance * direction.cos(), distance * direction.sin()], dim=1)

    def hands(self):
        headings = self.angles.cumsum(dim=1)
        return torch.stack([(self.lengths * headings.cos()).sum(1), (self.lengths * headings.sin()).sum(1)], dim=1)

    def observe(self):
        return torch.cat([self.angles.cos(), self.angles.sin(), self.targets, self.targets - self.hands()], dim=1)

    def move(self, actions):
        self.angles = self.angles + 0.2 * actions.clamp(-1, 1)
        gap = (self.targets - self.hands()).norm(dim=1)
        return -gap - 0.01 * actions.square().sum(dim=1)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = self.network(JOINTS)
        self.critic = self.network(1)
        self.log_std = nn.Parameter(torch.full((JOINTS,), -0.5))

    @staticmethod
    def network(outputs):
        return nn.Sequential(
            nn.Linear(2 * JOINTS + 4, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, outputs)
        )

    def policy(self, states):
        mean = self.actor(states)
        std = self.log_std.exp().expand_as(mean)
        return Independent(Normal(mean, std), 1)

    def value(self, states):
        return self.critic(states).squeeze(-1)


@torch.no_grad()
def play(world, model):
    """Let all arms move for a while; returns states, actions, log-probabilities and discounted returns."""
    world.reset()
    states, actions, log_probs, rewards = [], [], [], []
    for moment in range(MOMENTS):
        state = world.observe()
        policy = model.policy(state)
        action = policy.sample()
        states.append(state)
        actions.append(action)
        log_probs.append(policy.log_prob(action))
        rewards.append(world.move(action))
    future = model.value(world.observe())
    returns = []
    for reward in reversed(rewards):
        future = reward + DISCOUNT * future
        returns.insert(0, future)
    return torch.cat(states), torch.cat(actions), torch.cat(log_probs), torch.cat(returns), torch.stack(rewards)


def improve(model, optimizer, states, actions, old_log_probs, returns):
    with torch.no_grad():
        advantages = returns - model.value(states)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    for epoch in range(EPOCHS):
        for chosen in torch.randperm(len(states)).split(MINIBATCH):
            policy = model.policy(states[chosen])
            ratio = (policy.log_prob(actions[chosen]) - old_log_probs[chosen]).exp()
            gain = torch.min(ratio * advantages[chosen], ratio.clamp(1 - CLIP, 1 + CLIP) * advantages[chosen])
            value_loss = F.mse_loss(model.value(states[chosen]), returns[chosen])
            loss = -gain.mean() + 0.5 * value_loss - 0.001 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    world = ArmWorld()
    model = ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    mean_rewards = []
    for iteration in range(ITERATIONS):
        started = time.perf_counter()
        states, actions, log_probs, returns, rewards = play(world, model)
        improve(model, optimizer, states, actions, log_probs, returns)
        mean_rewards.append(rewards.mean().item())
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(mean_rewards[-10:]):.6f}")


if __name__ == "__main__":
    main()
