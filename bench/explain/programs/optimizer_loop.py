"""400 small parameters are updated one by one; healthy: by one fused call."""
import torch

import training


def build(healthy, draw):
    width = int(48 * draw.uniform(0.9, 1.1))
    model = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(200)]).to(training.device())
    batch = torch.randn(8, width, device=training.device())
    how = {"fused": True} if healthy else {"foreach": False}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **how)

    def step(_):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()

    return step


if __name__ == "__main__":
    training.main()
