"""Each layer picks the positive values by a mask, whose number the host must know; healthy: torch.where. For a device."""
import torch

import training

LAYERS = 24


def build(healthy, draw):
    model, batch = training.linears(draw, 1024, LAYERS)

    def step(_):
        x, total = batch, 0
        for layer in model:
            x = torch.tanh(layer(x))
            total = total + (torch.where(x > 0, x, 0.0).sum() if healthy else x[x > 0].sum())
        total.backward()

    return step


if __name__ == "__main__":
    training.main()
