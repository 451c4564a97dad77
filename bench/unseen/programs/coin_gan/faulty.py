"""Draws pictures of old coins: a small generator against a small critic."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 53
COINS = 960
SIDE = 32
NOISE = 48
WIDTH = 24
BATCH_SIZE = 16
LEARNING_RATE = 2e-4


def make_coins():
    """Bright discs with a ring, a few rays and some wear."""
    rng = np.random.default_rng(SEED)
    rows, columns = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    radius = np.hypot(rows, columns)
    angle = np.arctan2(rows, columns)
    coins = np.empty((COINS, 1, SIDE, SIDE), dtype=np.float32)
    for number in range(COINS):
        size = rng.uniform(11, 15)
        rays = rng.integers(3, 9)
        coin = 0.6 * (radius < size) + 0.4 * (np.abs(radius - 0.8 * size) < 1)
        coin += 0.4 * np.cos(rays * angle + rng.uniform(0, 6)) * (radius < 0.6 * size)
        coin += rng.normal(scale=0.1, size=coin.shape)
        coins[number, 0] = np.clip(2 * coin - 1, -1, 1)
    return torch.from_numpy(coins)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(NOISE, 4 * WIDTH * 4 * 4)
        self.layers = nn.Sequential(
            nn.BatchNorm2d(4 * WIDTH),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(4 * WIDTH, 2 * WIDTH, 3, padding=1),
            nn.BatchNorm2d(2 * WIDTH),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(2 * WIDTH, 2 * WIDTH, 3, padding=1),
            nn.BatchNorm2d(2 * WIDTH),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(2 * WIDTH, WIDTH, 3, padding=1),
            nn.BatchNorm2d(WIDTH),
            nn.ReLU(),
            nn.Conv2d(WIDTH, 1, 3, padding=1),
            nn.Tanh(),
        )

    def forward(self, noise):
        return self.layers(self.enter(noise).unflatten(1, (4 * WIDTH, 4, 4)))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, WIDTH, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(WIDTH, 2 * WIDTH, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(2 * WIDTH, 2 * WIDTH, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(2 * WIDTH * 16, 1),
        )

    def forward(self, coins):
        return self.layers(coins).squeeze(1)


def critic_loss(critic, real, drawn):
    return F.softplus(-critic(real)).mean() + F.softplus(critic(drawn)).mean()


def generator_loss(critic, drawn):
    return F.softplus(-critic(drawn)).mean()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    loader = DataLoader(TensorDataset(make_coins()), batch_size=BATCH_SIZE, shuffle=True)
    generator, critic = Generator(), Critic()
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=LEARNING_RATE, betas=(0.5, 0.999))
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=LEARNING_RATE, betas=(0.5, 0.999))

    step_times = []
    losses = []
    started = time.perf_counter()
    for real, in loader:
        drawn = generator(torch.randn(len(real), NOISE))
        critic_optimizer.zero_grad()
        loss = critic_loss(critic, real, drawn)
        loss.backward()
        critic_optimizer.step()

        drawn = generator(torch.randn(len(real), NOISE))
        generator_optimizer.zero_grad()
        drawing_loss = generator_loss(critic, drawn)
        drawing_loss.backward()
        generator_optimizer.step()

        losses.append(loss.item() + drawing_loss.item())
        now = time.perf_counter()
        step_times.append(now - started)
        started = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
