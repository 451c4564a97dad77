"""Thirty element-wise ops on a tensor of 8 MB, on a device 256 MB; healthy: compiled into one loop."""
import torch

import training


def chain(x):
    for _ in range(10):
        x = torch.relu(x * 1.01) + 0.1
    return x


def build(healthy, draw):
    model, batch = training.linears(draw, 1024)
    elements = 64_000_000 if training.device() == "cuda" else 2_000_000
    x = torch.randn(int(elements * draw.uniform(0.9, 1.1)), device=training.device())
    run = torch.compile(chain) if healthy else chain

    def step(_):
        with torch.no_grad():
            run(x)
            model(batch)

    return step


if __name__ == "__main__":
    training.main()
