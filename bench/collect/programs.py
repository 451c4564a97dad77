"""Training steps that recording is measured on: those of the parity test, and two of the size that people train."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests" / "profiler"))
import parity_programs  # noqa: E402


def transformer_with_adam():
    layer = nn.TransformerEncoderLayer(64, 4, dim_feedforward=256, batch_first=True)
    model = nn.Sequential(nn.Embedding(1000, 64), nn.TransformerEncoder(layer, 4), nn.Linear(64, 1000))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False)
    tokens = torch.randint(0, 1000, (4, 32))

    def step():
        optimizer.zero_grad()
        functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
        optimizer.step()

    return step


class InvertedResidual(nn.Module):
    """MobileNetV2's block, without its shortcut: widen, filter each channel, narrow. https://arxiv.org/abs/1801.04381"""

    def __init__(self, channels, out, stride, wider):
        super().__init__()
        inner = channels * wider
        self.layers = nn.Sequential(
            nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU6(),
            nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False), nn.BatchNorm2d(inner), nn.ReLU6(),
            nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out),
        )  # fmt: skip

    def forward(self, x):
        return self.layers(x)


def mobilenet():
    blocks, channels = [nn.Conv2d(3, 16, 3, 2, 1)], 16
    for out, stride, repeats in ((16, 1, 2), (24, 2, 3), (32, 2, 3), (64, 2, 3)):
        for repeat in range(repeats):
            blocks.append(InvertedResidual(channels, out, stride if repeat == 0 else 1, 4))
            channels = out
    model = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    data, wanted = torch.randn(2, 3, 64, 64), torch.randint(0, 10, (2,))

    def step():
        optimizer.zero_grad()
        functional.cross_entropy(model(data), wanted).backward()
        optimizer.step()

    return step


PROGRAMS = {
    "mlp": lambda: parity_programs.mlp()[0],
    "cnn": lambda: parity_programs.cnn()[0],
    "transformer": lambda: parity_programs.transformer()[0],
    "loader": lambda: parity_programs.loader(0)[0],
    "workers": lambda: parity_programs.loader(2)[0],
    "transformer with Adam": transformer_with_adam,
    "mobilenet": mobilenet,
}
