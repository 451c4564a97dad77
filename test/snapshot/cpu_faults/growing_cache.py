"""Faulty: a cache of features has a new key in each step, and nothing is ever removed.

usage: python growing_cache.py [TRACE.json]
"""

import sys

import torch
from recording import record
from torch import nn

encoder = nn.Sequential(nn.Linear(32, 1024), nn.ReLU())
head = nn.Linear(1024, 20)
optimizer = torch.optim.SGD(head.parameters(), lr=0.01, momentum=0.9)
cache = {}


def features_of(key, inputs):
    if key not in cache:
        with torch.no_grad():
            cache[key] = encoder(inputs)
    return cache[key]


def train_step(number):
    inputs, labels = torch.randn(512, 32), torch.randint(20, (512,))
    optimizer.zero_grad(set_to_none=True)
    nn.functional.cross_entropy(head(features_of(number, inputs)), labels).backward()
    optimizer.step()


if __name__ == "__main__":
    record(train_step, *sys.argv[1:])
