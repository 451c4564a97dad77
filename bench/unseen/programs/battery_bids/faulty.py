"""Trains a soft actor-critic agent that charges and discharges a battery on a synthetic power market."""
import copy
import itertools
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
FORECAST = 24
OBSERVATION = FORECAST + 6
ACTIONS = 3
HIDDEN = 320
BATCH = 128
PROPOSALS = 10
WARM_UP = 4000
CAPACITY = 50_000
GAMMA, POLYAK, ALPHA = 0.98, 0.995, 0.05


class PowerMarket:
    """Hourly prices with a daily shape; the agent splits its power over the spot, reserve and balancing markets."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        hours = torch.arange(24 * 365)
        shape = 40 + 18 * torch.sin(2 * math.pi * (hours - 7) / 24) + 9 * torch.sin(4 * math.pi * hours / 24)
        noise = torch.randn(len(hours), generator=self.generator).cumsum(0)
        self.prices = (shape + 6 * (noise - F.avg_pool1d(noise[None], 25, 1, 12)[0])) / 40
        self.reset()

    def reset(self):
        self.hour = int(torch.randint(len(self.prices) - 400, (1,), generator=self.generator))
        self.left, self.charge = 168, 0.5
        return self.observe()

    def observe(self):
        clock = 2 * math.pi * (self.hour % 24) / 24
        extra = [self.charge, self.charge ** 2, math.sin(clock), math.cos(clock), self.left / 168, 1.0]
        return torch.cat([self.prices[self.hour:self.hour + FORECAST], torch.tensor(extra)])

    def step(self, action):
        spot, reserve, balancing = action.tolist()
        power = max(-self.charge, min(1 - self.charge, 0.25 * spot + 0.1 * balancing))
        price = float(self.prices[self.hour])
        reward = -power * price - 0.04 * power ** 2 + 0.03 * (1 - reserve ** 2) * min(self.charge, 1 - self.charge)
        self.charge += power if power < 0 else 0.93 * power
        self.hour, self.left = self.hour + 1, self.left - 1
        return self.observe(), reward, self.left == 0


class ReplayBuffer:
    def __init__(self, capacity):
        self.observations, self.following = torch.zeros(capacity, OBSERVATION), torch.zeros(capacity, OBSERVATION)
        self.actions = torch.zeros(capacity, ACTIONS)
        self.rewards, self.dones = torch.zeros(capacity), torch.zeros(capacity)
        self.place, self.size, self.capacity = 0, 0, capacity

    def store(self, observation, action, reward, following, done):
        i = self.place
        self.observations[i], self.actions[i], self.following[i] = observation, action, following
        self.rewards[i], self.dones[i] = reward, float(done)
        self.place, self.size = (i + 1) % self.capacity, min(self.size + 1, self.capacity)

    def sample(self, count, generator):
        index = torch.randint(self.size, (count,), generator=generator)
        return (self.observations[index], self.actions[index], self.rewards[index],
                self.following[index], self.dones[index])


def perceptron(*widths):
    layers = itertools.chain.from_iterable((nn.Linear(a, b), nn.ReLU()) for a, b in zip(widths, widths[1:]))
    return nn.Sequential(*list(layers)[:-1])


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = perceptron(OBSERVATION, 96, 96, 2 * ACTIONS)

    def forward(self, observation, generator):
        mean, log_deviation = self.body(observation).chunk(2, dim=-1)
        deviation = log_deviation.clamp(-8, 2).exp()
        raw = mean + deviation * torch.randn(mean.shape, generator=generator)
        log_prob = (-0.5 * ((raw - mean) / deviation) ** 2 - deviation.log() - 0.5 * math.log(2 * math.pi)).sum(-1)
        log_prob = log_prob - (2 * (math.log(2) - raw - F.softplus(-2 * raw))).sum(-1)
        return torch.tanh(raw), log_prob


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = perceptron(OBSERVATION + ACTIONS, HIDDEN, HIDDEN, HIDDEN, 1)

    def forward(self, observation, action):
        return self.body(torch.cat([observation, action], dim=-1)).squeeze(-1)


class Agent:
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.actor, self.q1, self.q2 = Actor(), Critic(), Critic()
        self.q1_target, self.q2_target = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.q_params = itertools.chain(self.q1.parameters(), self.q2.parameters())
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.q_optimizer = torch.optim.Adam(self.q_params, lr=3e-4)
        for p in itertools.chain(self.q1_target.parameters(), self.q2_target.parameters()):
            p.requires_grad = False

    @torch.no_grad()
    def act(self, observation):
        return self.actor(observation, self.generator)[0]

    def critic_loss(self, observation, action, reward, following, done):
        with torch.no_grad():
            next_action, log_prob = self.actor(following, self.generator)
            value = torch.min(self.q1_target(following, next_action), self.q2_target(following, next_action))
            goal = reward + GAMMA * (1 - done) * (value - ALPHA * log_prob)
        return F.mse_loss(self.q1(observation, action), goal) + F.mse_loss(self.q2(observation, action), goal)

    def actor_loss(self, observation):
        observation = observation.repeat_interleave(PROPOSALS, dim=0)
        action, log_prob = self.actor(observation, self.generator)
        value = torch.min(self.q1(observation, action), self.q2(observation, action))
        return (ALPHA * log_prob - value).mean()

    def update(self, batch):
        self.q_optimizer.zero_grad()
        critic_loss = self.critic_loss(*batch)
        critic_loss.backward()
        self.q_optimizer.step()

        for p in self.q_params:
            p.requires_grad = False
        self.actor_optimizer.zero_grad()
        actor_loss = self.actor_loss(batch[0])
        actor_loss.backward()
        self.actor_optimizer.step()
        for p in self.q_params:
            p.requires_grad = True

        with torch.no_grad():
            for network, target in ((self.q1, self.q1_target), (self.q2, self.q2_target)):
                for p, p_target in zip(network.parameters(), target.parameters()):
                    p_target.mul_(POLYAK).add_(p, alpha=1 - POLYAK)
        return critic_loss.item(), actor_loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    market, buffer, agent = PowerMarket(seed=51), ReplayBuffer(CAPACITY), Agent(seed=52)
    sampler = torch.Generator().manual_seed(53)
    observation = market.reset()
    losses, times, rewards = [], [], []

    def interact(observation, action):
        following, reward, done = market.step(action)
        buffer.store(observation, action, reward, following, done)
        rewards.append(reward)
        return market.reset() if done else following

    for _ in range(WARM_UP):
        observation = interact(observation, 2 * torch.rand(ACTIONS, generator=sampler) - 1)
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        observation = interact(observation, agent.act(observation))
        losses.append(sum(agent.update(buffer.sample(BATCH, sampler))))
        times.append((time.perf_counter() - began) * 1e3)
    print(f"{len(losses)} updates, mean reward of the last week {sum(rewards[-168:]) / 168:.4f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
