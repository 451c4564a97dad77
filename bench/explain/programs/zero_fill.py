"""Gradients are filled with zeros and added to; healthy: they are set to None."""
import torch

import training


def build(healthy, draw):
    width = int(8 * draw.uniform(0.9, 1.1))
    model = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(1000)]).to(training.device())
    batch = torch.randn(4, width, device=training.device())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step(_):
        optimizer.zero_grad(set_to_none=healthy)
        model(batch).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
