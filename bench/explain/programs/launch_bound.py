"""Four hundred tiny kernels are launched one by one; healthy: as one CUDA graph. For a device."""
import torch

import training


def build(healthy, draw):
    width = int(64 * draw.uniform(0.9, 1.1)) // 8 * 8
    layers = [layer for _ in range(200) for layer in (torch.nn.Linear(width, width), torch.nn.Tanh())]
    model = torch.nn.Sequential(*layers).to(training.device())
    batch = torch.randn(32, width, device=training.device())
    if healthy:
        model = torch.cuda.make_graphed_callables(model, (batch,))

    def step(_):
        model(batch).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
