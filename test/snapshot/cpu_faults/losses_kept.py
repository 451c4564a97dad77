"""Faulty: a list keeps each validation loss with its graph, and so all activations of the pass.

usage: python losses_kept.py [TRACE.json]
"""

import sys

import torch
from recording import record
from torch import nn

model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.AdamW(model.parameters())
validation_losses = []


def batch():
    return torch.randn(2048, 32), torch.randint(10, (2048,))


def validate():
    inputs, labels = batch()
    loss = nn.functional.cross_entropy(model(inputs), labels)
    validation_losses.append(loss)


def train_step(_):
    inputs, labels = batch()
    optimizer.zero_grad(set_to_none=True)
    nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
    validate()


if __name__ == "__main__":
    record(train_step, *sys.argv[1:])
