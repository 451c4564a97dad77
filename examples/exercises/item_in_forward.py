"""Exercise 2: a forward that asks for one number after the other.

usage: python item_in_forward.py

`Gate.forward` reads a tensor's elements one by one with .item(), in a Python loop. On a device each read waits for all the work
that was queued; on the CPU the loop costs what its operators cost. stepscope names the line and what the step gains without it.
"""
import pathlib
import tempfile

import torch
from torch import nn

import stepscope
from stepscope.profiler import profile, schedule

ROWS, WIDTH = 256, 64


class Gate(nn.Module):
    """Keeps the rows whose score is above the mean."""

    def __init__(self):
        super().__init__()
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, x):
        scores = self.score(x)
        total = 0.0
        for row in range(ROWS):
            total += scores[row].item()  # the line to find
        return torch.where(scores > total / ROWS, x, torch.zeros_like(x))


class Mean(Gate):
    """The same without a loop."""

    def forward(self, x):
        scores = self.score(x)
        return torch.where(scores > scores.mean(), x, torch.zeros_like(x))


def step_of(gate, path):
    """Records three steps; their mean length in ns."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), gate, nn.Linear(WIDTH, WIDTH)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(ROWS, WIDTH, device=device)
    with profile(with_stack=True, schedule=schedule(wait=1, warmup=1, active=3, repeat=1), path=path) as prof:
        for _ in range(5):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            prof.step()
    lengths = stepscope.open(path).analyze("steps")[0]["total"]
    return sum(lengths) / len(lengths)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        slow, fast = (pathlib.Path(folder) / f"{name}.stepscope" for name in ("item", "mean"))
        before, after = step_of(Gate(), slow), step_of(Mean(), fast)
        print(stepscope.open(slow).report())
        print(f"measured: {before / 1e6:.2f} ms a step with the loop, {after / 1e6:.2f} ms without")
