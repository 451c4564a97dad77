"""The allocator's cache is emptied after each step; healthy: it is kept. For a device."""
import torch

import training


def build(healthy, draw):
    model, batch = training.linears(draw, 3072, 6)

    def step(_):
        model(batch).sum().backward()
        if not healthy:
            torch.cuda.empty_cache()

    return step


if __name__ == "__main__":
    training.main()
