"""The value of each layer's result is read to see whether it is finite; healthy: none is. For a device."""
import math

import torch

import training

LAYERS = 24


def build(healthy, draw):
    model, batch = training.linears(draw, 1536, LAYERS)

    def step(_):
        x = batch
        for layer in model:
            x = torch.tanh(layer(x))
            if not healthy and not math.isfinite(x.abs().max().item()):
                raise ValueError("not finite")
        x.sum().backward()

    return step


if __name__ == "__main__":
    training.main()
