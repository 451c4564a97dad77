"""PPO on a batched point-mass walker with twelve joints."""
import statistics
import time

import torch
from torch import nn
from torch.distributions import MultivariateNormal

TRAIN_SECONDS = 11
NUM_ENVS = 256
HORIZON = 8
EPOCHS = 2
MINIBATCHES = 2
JOINTS = 12
OBS = 2 * JOINTS + 3


class WalkerEnv:
    """All walkers advance together; torques act on damped joints."""

    def __init__(self, count, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.coupling = torch.randn(JOINTS, 3, generator=self.gen) * 0.3
        self.angle = torch.randn(count, JOINTS, generator=self.gen) * 0.1
        self.speed = torch.zeros(count, JOINTS)
        self.body = torch.zeros(count, 3)

    def observe(self):
        return torch.cat([self.angle, self.speed, self.body], dim=-1)

    def step(self, torque):
        torque = torque.clamp(-1, 1)
        self.speed = 0.9 * self.speed + 0.1 * (torque - torch.sin(self.angle))
        self.angle = self.angle + 0.1 * self.speed
        self.body = 0.95 * self.body + self.speed @ self.coupling
        reward = 0.1 * self.body[:, 0] - 0.02 * torque.pow(2).sum(-1) - 0.01 * self.body[:, 1:].abs().sum(-1)
        return self.observe(), reward


class ActorCritic(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.actor = nn.Sequential(
            nn.Linear(OBS, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, JOINTS),
        )
        self.critic = nn.Sequential(
            nn.Linear(OBS, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 1),
        )
        self.log_std = nn.Parameter(torch.full((JOINTS,), -0.5))

    def policy(self, obs):
        mean = self.actor(obs)
        variance = (2 * self.log_std).exp().expand_as(mean)
        return MultivariateNormal(mean, torch.diag_embed(variance))

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


@torch.no_grad()
def collect(env, model, gamma=0.98, lam=0.95):
    obs = env.observe()
    observations, actions, log_probs, rewards = [], [], [], []
    for _ in range(HORIZON):
        dist = model.policy(obs)
        action = dist.sample()
        observations.append(obs)
        actions.append(action)
        log_probs.append(dist.log_prob(action))
        obs, reward = env.step(action)
        rewards.append(reward)
    values = model.value(torch.stack(observations + [obs]))
    advantages = torch.zeros(HORIZON, NUM_ENVS)
    running = torch.zeros(NUM_ENVS)
    for t in range(HORIZON - 1, -1, -1):
        delta = rewards[t] + gamma * values[t + 1] - values[t]
        running = delta + gamma * lam * running
        advantages[t] = running
    returns = advantages + values[:-1]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    batch = (torch.stack(observations), torch.stack(actions), torch.stack(log_probs), advantages, returns)
    return [part.flatten(0, 1) for part in batch]


def update(model, optimizer, batch, gen, clip=0.2):
    total = 0.0
    rows = NUM_ENVS * HORIZON
    for _ in range(EPOCHS):
        for index in torch.randperm(rows, generator=gen).chunk(MINIBATCHES):
            obs, action, old_log_prob, advantage, target = (part[index] for part in batch)
            dist = model.policy(obs)
            ratio = (dist.log_prob(action) - old_log_prob).exp()
            surrogate = torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
            value_loss = nn.functional.mse_loss(model.value(obs), target)
            loss = -surrogate.mean() + 0.5 * value_loss - 0.003 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            total += loss.item()
    return total / (EPOCHS * MINIBATCHES)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(31)
    env = WalkerEnv(NUM_ENVS, seed=2)
    model = ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    gen = torch.Generator().manual_seed(6)

    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        begin = time.perf_counter()
        batch = collect(env, model)
        losses.append(update(model, optimizer, batch, gen))
        times.append(time.perf_counter() - begin)

    print(f"iterations={len(times)} last_loss={losses[-1]:.4f}")
    print(f"step_ms={statistics.median(times[3:]) * 1000:.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
