"""A Python loop multiplies and adds row by row; healthy: one batched op."""
import torch

import training

STACKS = True


def build(healthy, draw):
    model, batch = training.linears(draw, 768)
    rows = int(2000 * draw.uniform(0.9, 1.1))
    weights = torch.randn(rows, 64, device=training.device())
    values = torch.randn(rows, 64, device=training.device())

    def step(_):
        if healthy:
            total = torch.einsum("ij,ij->j", weights, values)
        else:
            total = torch.zeros(64, device=training.device())
            for i in range(rows):
                total += weights[i] * values[i]
        model(batch * total.mean()).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
