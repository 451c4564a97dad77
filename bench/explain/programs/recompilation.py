"""Each step has a new length and is compiled for it; healthy: all are padded to one length."""
import torch

import training


def scaled(x):
    return torch.relu(x * 1.01 + 0.5).sum()


def build(healthy, draw):
    torch._dynamo.config.recompile_limit = 64
    run = torch.compile(scaled, dynamic=False)
    first = draw.randint(200_000, 300_000)

    def step(i):
        with torch.no_grad():
            run(torch.ones(first if healthy else first + 8 * i, device=training.device()))

    return step


if __name__ == "__main__":
    training.main()
