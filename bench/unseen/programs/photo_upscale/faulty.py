"""Adversarial training of a small 2x photo upscaler on synthetic textures."""
import math
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

TRAIN_SECONDS = 11
BATCH = 6
SIZE = 48
NUM_PHOTOS = 384


def make_photos(count, size, seed):
    """Random smooth gratings with a few bright discs on top."""
    gen = torch.Generator().manual_seed(seed)
    axis = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    freq = torch.rand(count, 3, 2, generator=gen) * 9
    phase = torch.rand(count, 3, 1, 1, generator=gen) * 2 * math.pi
    photos = torch.sin(freq[:, :, :1, None] * xx + freq[:, :, 1:, None] * yy + phase)
    centre = torch.rand(count, 2, generator=gen) * 1.4 - 0.7
    radius = torch.rand(count, 1, 1, generator=gen) * 0.3 + 0.1
    dist = (xx - centre[:, :1, None]) ** 2 + (yy - centre[:, 1:, None]) ** 2
    disc = (dist < radius ** 2).float().unsqueeze(1)
    return (0.6 * photos + 0.4 * disc).clamp(-1, 1)


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.act = nn.PReLU(width)

    def forward(self, x):
        return x + self.conv2(self.act(self.conv1(x)))


class Upscaler(nn.Module):
    def __init__(self, width=32, depth=4):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 5, padding=2)
        self.body = nn.Sequential(*[ResidualBlock(width) for _ in range(depth)])
        self.up = nn.Sequential(
            nn.Conv2d(width, width * 4, 3, padding=1),
            nn.PixelShuffle(2),
            nn.PReLU(width),
        )
        self.head = nn.Conv2d(width, 3, 5, padding=2)

    def forward(self, low):
        feats = self.stem(low)
        feats = feats + self.body(feats)
        return torch.tanh(self.head(self.up(feats)))


class Critic(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width, width * 2, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width * 2, width * 4, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width * 4, 1, 3, padding=1),
        )

    def forward(self, image):
        return self.net(image).mean(dim=(1, 2, 3))


class AdversarialTrainer:
    def __init__(self, upscaler, critic):
        self.upscaler = upscaler
        self.critic = critic
        self.opt_g = torch.optim.Adam(upscaler.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.5, 0.999))

    def critic_step(self, sharp, generated):
        self.critic.requires_grad_(True)
        self.opt_d.zero_grad()
        loss_sharp = F.softplus(-self.critic(sharp)).mean()
        loss_generated = F.softplus(self.critic(generated)).mean()
        loss = loss_sharp + loss_generated
        loss.backward(retain_graph=True)
        self.opt_d.step()
        return loss.item()

    def upscaler_step(self, sharp, generated):
        self.critic.requires_grad_(False)
        self.opt_g.zero_grad()
        pixel = F.l1_loss(generated, sharp)
        adversarial = F.softplus(-self.critic(generated)).mean()
        loss = pixel + 0.02 * adversarial
        loss.backward()
        self.opt_g.step()
        return loss.item()

    def step(self, sharp):
        low = F.avg_pool2d(sharp, 2)
        generated = self.upscaler(low)
        loss_d = self.critic_step(sharp, generated)
        loss_g = self.upscaler_step(sharp, generated)
        return loss_d + loss_g


def main():
    torch.set_num_threads(2)
    torch.manual_seed(11)
    photos = make_photos(NUM_PHOTOS, SIZE, seed=5)
    trainer = AdversarialTrainer(Upscaler(), Critic())
    order_gen = torch.Generator().manual_seed(3)

    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        for index in torch.randperm(NUM_PHOTOS, generator=order_gen).split(BATCH):
            begin = time.perf_counter()
            losses.append(trainer.step(photos[index]))
            times.append(time.perf_counter() - begin)
            if time.perf_counter() - start >= TRAIN_SECONDS:
                break

    print(f"steps={len(times)} last_loss={losses[-1]:.4f}")
    print(f"step_ms={statistics.median(times[3:]) * 1000:.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
