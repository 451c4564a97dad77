"""Faulty: the activations of many blocks fill the memory; checkpointing each block would free most of it.

usage: python deep_mlp.py [TRACE.json]
"""

import sys

import torch
from recording import record
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.act = nn.GELU()
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(self.act(self.up(self.norm(x))))


class DeepMlp(nn.Module):
    def __init__(self, width=32, blocks=24):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


model = DeepMlp()
optimizer = torch.optim.AdamW(model.parameters())


def train_step(_):
    inputs, labels = torch.randn(2048, 32), torch.randint(10, (2048,))
    optimizer.zero_grad(set_to_none=True)
    nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()


if __name__ == "__main__":
    record(train_step, *sys.argv[1:], steps=6)
