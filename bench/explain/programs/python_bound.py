"""Features are computed in pure Python between ops in each step; healthy: once."""
import math

import torch

import training

STACKS = True


def features(count):
    total = 0.0
    for i in range(count):
        total += (i % 7) * 0.25 - (i % 3)
    return math.tanh(total)


def build(healthy, draw):
    model, batch = training.linears(draw, 768)
    count = int(120_000 * draw.uniform(0.9, 1.1))
    known = features(count)

    def step(_):
        half = model[0](batch)
        scale = known if healthy else features(count)
        model[1](half * torch.tensor(scale)).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
