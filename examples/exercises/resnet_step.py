"""Exercise 1: where does the step of a residual network go, convolutions or batch norm?

usage: python resnet_step.py

Records three steps with stepscope.profiler, prints the report's verdict and the share of each kind of layer.
"""
import pathlib
import sys
import tempfile

import torch
from torch import nn

import stepscope
from stepscope.profiler import profile, schedule

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cnn import BATCH, CLASSES, SIZE, network  # noqa: E402

LAYERS = {"convolutions": ("conv",), "batch norm": ("batch_norm",), "activations": ("relu", "threshold")}


def recorded(path):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, loss_of = network(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    images, labels = torch.randn(BATCH, 3, SIZE, SIZE), torch.randint(CLASSES, (BATCH,))
    with profile(record_shapes=True, with_stack=True, schedule=schedule(wait=1, warmup=1, active=3, repeat=1), path=path) as prof:
        for _ in range(5):
            optimizer.zero_grad()
            loss_of(model(images), labels).backward()
            optimizer.step()
            prof.step()


def shares(trace):
    """Of the host's time in operators without those they call, by kind of layer, forward and backward."""
    operators = trace.analyze("operators", top=0)[0]
    rows = list(zip(operators["name"], operators["host_self"]))
    whole = sum(time for _, time in rows)
    of = {kind: sum(time for name, time in rows if any(part in name for part in parts)) for kind, parts in LAYERS.items()}
    of["the rest"] = whole - sum(of.values())
    return {kind: time / whole for kind, time in of.items()}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "resnet.stepscope"
        recorded(path)
        trace = stepscope.open(path)
        print(trace.report())
        for kind, share in shares(trace).items():
            print(f"{kind:14}{share:6.1%} of the operators' time")
