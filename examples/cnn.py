"""A small residual network on random images: convolutions fill the step.

usage: python cnn.py TRACE.json
"""
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

BATCH, SIZE, CLASSES = 16, 32, 10
WAIT, WARMUP, RECORDED = 1, 1, 3


class Residual(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels))
        self.short = nn.Identity()
        if stride != 1 or channels_in != channels:
            self.short = nn.Conv2d(channels_in, channels, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


def network():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
        Residual(32, 32, 1), Residual(32, 64, 2), Residual(64, 64, 1), Residual(64, 128, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, CLASSES))


def train(trace_path):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_of = nn.CrossEntropyLoss()
    images = torch.randn(BATCH, 3, SIZE, SIZE)
    labels = torch.randint(CLASSES, (BATCH,))
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True,
                 schedule=schedule(wait=WAIT, warmup=WARMUP, active=RECORDED, repeat=1),
                 on_trace_ready=lambda prof: prof.export_chrome_trace(trace_path)) as prof:
        for _ in range(WAIT + WARMUP + RECORDED):
            optimizer.zero_grad()
            with record_function("forward"):
                loss = loss_of(model(images), labels)
            with record_function("backward"):
                loss.backward()
            optimizer.step()
            prof.step()


if __name__ == "__main__":
    train(sys.argv[1])
