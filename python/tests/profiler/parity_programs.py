"""The programs of the parity tests, and the results of each profiler for one step.

A program is a step and the parameters that it trains.
"""

from __future__ import annotations

import collections

import stepscope.profiler
import torch

CPU = [torch.profiler.ProfilerActivity.CPU]


def has_nanoseconds():
    return tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 4)


def mlp():
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data, wanted = torch.randn(8, 16), torch.randint(0, 4, (8,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(data), wanted).backward()
        optimizer.step()

    return step, [*model.parameters()]


class Residual(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)


def cnn():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=2), Residual(8), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 2)
    )
    data = torch.randn(2, 3, 16, 16)

    def step():
        model.zero_grad()
        model(data).sum().backward()

    return step, [*model.parameters()]


def transformer():
    layer = torch.nn.TransformerEncoderLayer(16, 2, dim_feedforward=32, dropout=0.0, batch_first=True)
    embed, head = torch.nn.Embedding(50, 16), torch.nn.Linear(16, 50)
    parameters = [*layer.parameters(), *embed.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3)
    tokens = torch.randint(0, 50, (2, 7))

    def step():
        optimizer.zero_grad()
        logits = head(layer(embed(tokens)))
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
        optimizer.step()

    return step, parameters


def loader(workers):
    data = torch.utils.data.TensorDataset(torch.randn(8, 16), torch.randint(0, 4, (8,)))
    model = torch.nn.Linear(16, 4)

    def step():
        for inputs, wanted in torch.utils.data.DataLoader(data, batch_size=2, num_workers=workers):
            torch.nn.functional.cross_entropy(model(inputs), wanted).backward()

    return step, [*model.parameters()]


def two_profiles(step, parameters, between=lambda: None, **options):
    """Profiles one step with stepscope and one with torch.profiler. Each begins without gradients."""
    out = []
    for profile in (stepscope.profiler.profile, torch.profiler.profile):
        for parameter in parameters:
            parameter.grad = None
        between()
        if profile is torch.profiler.profile:
            options.pop("path", None)
        with profile(activities=CPU, **options) as prof:
            step()
        out.append(prof)
    return out


OURS = "DataLoader.collate"
HIDDEN = {"profiler::_record_function_enter_new", "profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version"}


def op_rows(prof):
    """Counts of (name, parent, bytes, own bytes) of stepscope's events.

    ``OURS`` is merged into its parent. Events that end on another thread get no bytes: those depend on other threads' timing.
    """

    def above(event):
        parent = event.cpu_parent
        while parent is not None and parent.name == OURS:
            parent = parent.cpu_parent
        return parent

    events = [event for event in prof.events() if event.name not in ("[memory]", OURS)]
    own = {event.id: event.self_cpu_memory_usage for event in events}
    for event in prof.events():
        if event.name == OURS and above(event) is not None:
            own[above(event).id] += event.self_cpu_memory_usage
    rows = collections.Counter()
    for event in events:
        parent = above(event)
        total = 0 if event.is_async else event.cpu_memory_usage
        rows[event.name, parent.name if parent else None, total, own[event.id]] += 1
    return rows


def tree_rows(prof):
    """The same for torch.profiler's tree, which has ns and threads in every version; its events and sums have µs before 2.4."""
    rows = collections.Counter()

    def name_of(node):
        return node.name if isinstance(node.name, str) else node.name()

    def kept(node):
        """The child ops, without those that PyTorch's own list leaves out."""
        for child in node.children:
            if hasattr(child.extra_fields, "alloc_size"):
                continue
            if name_of(child) in HIDDEN:
                yield from kept(child)
            else:
                yield child

    def allocated(node):
        return sum(child.extra_fields.alloc_size for child in node.children if hasattr(child.extra_fields, "alloc_size")) + sum(
            allocated(child) for child in node.children if name_of(child) in HIDDEN
        )

    def visit(node, parent):
        below, own = [*kept(node)], allocated(node)
        while len(below) == 1 and name_of(below[0]) == name_of(node):  # one of the two is listed
            own += allocated(below[0])
            below = [*kept(below[0])]
        total = own + sum(visit(child, name_of(node)) for child in below)
        rows[name_of(node), parent, total, own] += 1
        return total

    for root in prof.profiler.kineto_results.experimental_event_tree():
        if not hasattr(root.extra_fields, "alloc_size") and name_of(root) not in HIDDEN:
            visit(root, None)
    return rows


def outside(prof):
    """Bytes allocated minus bytes freed outside of ops."""
    return sum(event.cpu_memory_usage for event in prof.events() if event.name == "[memory]")


def outside_of_tree(prof):
    roots = prof.profiler.kineto_results.experimental_event_tree()
    return sum(root.extra_fields.alloc_size for root in roots if hasattr(root.extra_fields, "alloc_size"))
