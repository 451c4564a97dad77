"""Sorts the species of a reef survey into feeding groups with a graph network."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 79
SPECIES = 4000
SIGHTINGS = 240000
TRAITS = 384
HIDDEN = 48
GROUPS = 9
EPOCHS = 550
LEARNING_RATE = 0.01
WEIGHT_DECAY = 5e-4
TRAIN_SHARE = 0.3


def make_survey():
    rng = np.random.default_rng(SEED)
    group = rng.integers(GROUPS, size=SPECIES)
    weights = rng.pareto(2.0, size=SPECIES) + 0.2
    first = rng.choice(SPECIES, size=SIGHTINGS, p=weights / weights.sum())
    by_group = [np.flatnonzero(group == number) for number in range(GROUPS)]
    second = rng.integers(SPECIES, size=SIGHTINGS)
    alike = rng.random(SIGHTINGS) < 0.3
    for number in range(GROUPS):
        rows = np.flatnonzero(alike & (group[first] == number))
        second[rows] = rng.choice(by_group[number], size=len(rows))
    kept = first != second
    pairs = np.unique(np.sort(np.stack([first[kept], second[kept]]), axis=0), axis=1)
    profile = rng.normal(size=(GROUPS, TRAITS)) * 0.06
    traits = profile[group] + rng.normal(size=(SPECIES, TRAITS))
    return (
        torch.from_numpy(pairs),
        torch.tensor(traits, dtype=torch.float32),
        torch.from_numpy(group),
        torch.from_numpy(rng.random(SPECIES) < TRAIN_SHARE),
    )


def normalized_adjacency(pairs):
    loops = torch.arange(SPECIES)
    rows = torch.cat([pairs[0], pairs[1], loops])
    columns = torch.cat([pairs[1], pairs[0], loops])
    degree = torch.bincount(rows, minlength=SPECIES).float()
    values = (degree[rows] * degree[columns]).rsqrt()
    adjacency = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (SPECIES, SPECIES))
    return adjacency.coalesce().to_sparse_csr()


class SymmetricPropagation(torch.autograd.Function):
    """Multiplies with the adjacency, which is symmetric and therefore its own transpose."""

    @staticmethod
    def forward(ctx, adjacency, x):
        ctx.adjacency = adjacency
        return adjacency @ x

    @staticmethod
    def backward(ctx, gradient):
        if not ctx.needs_input_grad[1]:
            return None, None
        return None, ctx.adjacency @ gradient


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, adjacency, x):
        x = SymmetricPropagation.apply(adjacency, x)
        return self.linear(x) + self.bias


class FeedingGroups(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GraphConvolution(TRAITS, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN)
        self.second = GraphConvolution(HIDDEN, GROUPS)

    def forward(self, adjacency, traits):
        x = F.dropout(traits, 0.3, self.training)
        x = F.relu(self.norm(self.first(adjacency, x)))
        x = F.dropout(x, 0.5, self.training)
        return self.second(adjacency, x)


def train_epoch(model, optimizer, adjacency, traits, group, known):
    logits = model(adjacency, traits)
    loss = F.cross_entropy(logits[known], group[known])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.inference_mode()
def accuracy(model, adjacency, traits, group, asked):
    model.eval()
    found = model(adjacency, traits).argmax(dim=1)
    return (found == group)[asked].float().mean().item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    pairs, traits, group, train_mask = make_survey()
    adjacency = normalized_adjacency(pairs)
    known = train_mask.nonzero().squeeze(1)
    model = FeedingGroups()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)

    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        losses.append(train_epoch(model, optimizer, adjacency, traits, group, known))
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"accuracy of the other species {accuracy(model, adjacency, traits, group, ~train_mask):.3f}")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.5f}")


if __name__ == "__main__":
    main()
