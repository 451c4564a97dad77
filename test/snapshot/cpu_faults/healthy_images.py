"""Healthy: a small network of convolutions; losses are kept as numbers, and validation keeps no graph.

usage: python healthy_images.py [TRACE.json]
"""

import sys

import torch
from recording import record
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32),
                      nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))  # fmt: skip
optimizer = torch.optim.AdamW(model.parameters())
losses = []


def batch():
    return torch.randn(64, 3, 32, 32), torch.randint(10, (64,))


@torch.no_grad()
def validate():
    inputs, labels = batch()
    losses.append(nn.functional.cross_entropy(model(inputs), labels).item())


def train_step(number):
    inputs, labels = batch()
    optimizer.zero_grad(set_to_none=True)
    nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
    if number % 3 == 2:
        validate()


if __name__ == "__main__":
    record(train_step, *sys.argv[1:])
