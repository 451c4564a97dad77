"""FLOPs that torch's FlopCounterMode counts for operators as the profiler records them: torch_flops.csv beside this file.

usage: python torch_flops.py      under the PyTorch of tools/pypi-torch.txt
"""
import csv
import json
import pathlib
import tempfile

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

ARGS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


def t(*sizes, grad=False):
    return torch.randn(*sizes, requires_grad=grad)


def backward(out):
    out.sum().backward()


CASES = [  # the operator whose FLOPs are counted, and a program with one call of it
    ("aten::mm", lambda: t(48, 96) @ t(96, 32)),
    ("aten::mm", lambda: t(48, 96) @ t(32, 96).T),
    ("aten::addmm", lambda: torch.addmm(t(32), t(48, 96), t(96, 32))),
    ("aten::addmm", lambda: F.linear(t(4, 48, 96), t(32, 96), t(32))),
    ("aten::bmm", lambda: torch.bmm(t(6, 48, 96), t(6, 96, 32))),
    ("aten::bmm", lambda: torch.einsum("bik,bjk->bij", t(6, 48, 96), t(6, 32, 96))),
    ("aten::baddbmm", lambda: torch.baddbmm(t(6, 48, 32), t(6, 48, 96), t(6, 96, 32))),
    ("aten::convolution", lambda: F.conv2d(t(4, 8, 20, 24), t(16, 8, 3, 3))),
    ("aten::convolution", lambda: F.conv2d(t(4, 8, 20, 24), t(16, 8, 3, 3), t(16), stride=2, padding=1)),
    ("aten::convolution", lambda: F.conv2d(t(4, 8, 20, 24), t(16, 2, 3, 3), groups=4, dilation=2)),
    ("aten::convolution", lambda: F.conv1d(t(4, 8, 50), t(16, 8, 5), stride=3)),
    ("aten::convolution", lambda: F.conv3d(t(2, 4, 8, 10, 12), t(6, 4, 3, 3, 3))),
    ("aten::convolution", lambda: F.conv_transpose2d(t(4, 8, 10, 12), t(8, 6, 3, 3), stride=2)),
    ("aten::convolution_backward", lambda: (F.conv2d(t(4, 8, 20, 24, grad=True), t(16, 8, 3, 3, grad=True)), True)),
    ("aten::convolution_backward", lambda: (F.conv2d(t(4, 8, 20, 24), t(16, 8, 3, 3, grad=True), stride=2), True)),
]


def measured(name, program):
    """FLOPs, and the args of the op's first event."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        counter = FlopCounterMode(display=False)
        with counter:
            out = program()
            if isinstance(out, tuple):
                backward(out[0])
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
            out = program()
            if isinstance(out, tuple):
                backward(out[0])
        profiler.export_chrome_trace(str(path))
        event = next(e for e in json.loads(path.read_text())["traceEvents"] if e.get("name") == name)
    counts = {str(op).replace("aten.", "aten::"): flops for op, flops in counter.get_flop_counts()["Global"].items()}
    return counts[name], [event["args"].get(arg, []) for arg in ARGS]


def main():
    with open(pathlib.Path(__file__).with_suffix(".csv"), "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["name", "flops", *ARGS])
        for name, program in CASES:
            flops, args = measured(name, program)
            out.writerow([name, flops, *map(repr, args)])


if __name__ == "__main__":
    main()
