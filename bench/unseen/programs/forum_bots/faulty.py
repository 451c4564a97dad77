"""Finds bots among the members of a forum with a graph convolutional network over who answers whom."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 833
MEMBERS = 12_000
ANSWERS = 80_000
FEATURES = 48
WIDTH = 64
LAYERS = 3
KINDS = 4
LEARNING_RATE = 5e-3
TRAIN_SECONDS = 11.5
REPORTED_STEPS = 8


def make_forum():
    rng = np.random.default_rng(SEED)
    kind = rng.choice(KINDS, size=MEMBERS, p=[0.6, 0.2, 0.15, 0.05])
    by_kind = [np.flatnonzero(kind == number) for number in range(KINDS)]
    writer = rng.integers(MEMBERS, size=ANSWERS)
    reader = rng.integers(MEMBERS, size=ANSWERS)
    alike = rng.random(ANSWERS) < 0.6
    for number, members in enumerate(by_kind):
        rows = np.flatnonzero(alike & (kind[writer] == number))
        reader[rows] = rng.choice(members, size=len(rows))
    edges = np.stack([np.concatenate([writer, reader]), np.concatenate([reader, writer])])
    edges = np.unique(edges, axis=1)
    centres = rng.normal(size=(KINDS, FEATURES))
    features = 0.35 * centres[kind] + rng.normal(size=(MEMBERS, FEATURES))
    return (
        torch.from_numpy(features).float(),
        torch.from_numpy(edges),
        torch.from_numpy(kind),
    )


def normalised_adjacency(edges, nodes):
    """Sparse D^-1/2 (A + I) D^-1/2."""
    loops = torch.arange(nodes).expand(2, nodes)
    index = torch.cat([edges, loops], dim=1)
    adjacency = torch.sparse_coo_tensor(index, torch.ones(index.size(1)), (nodes, nodes)).coalesce()
    degree = torch.sparse.sum(adjacency, dim=1).to_dense()
    scale = degree.clamp(min=1).rsqrt()
    rows, columns = adjacency.indices()
    values = adjacency.values() * scale[rows] * scale[columns]
    return torch.sparse_coo_tensor(adjacency.indices(), values, (nodes, nodes)).coalesce()


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, edges):
        adjacency = normalised_adjacency(edges, x.size(0))
        return torch.sparse.mm(adjacency, self.linear(x))


class BotNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(FEATURES, WIDTH)
        self.convolutions = nn.ModuleList([GraphConvolution(WIDTH, WIDTH) for _ in range(LAYERS)])
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(LAYERS)])
        self.head = nn.Linear(WIDTH, KINDS)

    def forward(self, features, edges):
        x = F.relu(self.encoder(features))
        for convolution, norm in zip(self.convolutions, self.norms):
            x = x + F.relu(norm(convolution(x, edges)))
            x = F.dropout(x, 0.2, self.training)
        return self.head(x)


@torch.no_grad()
def accuracy(model, features, edges, kinds, members):
    model.eval()
    predicted = model(features, edges)[members].argmax(1)
    model.train()
    return (predicted == kinds[members]).float().mean().item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    features, edges, kinds = make_forum()
    order = torch.randperm(MEMBERS)
    train, test = order[:MEMBERS // 2], order[MEMBERS // 2:]
    weights = 1 / torch.bincount(kinds[train], minlength=KINDS).float().sqrt()

    model = BotNetwork()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, weight_decay=5e-4)

    step_times, losses = [], []
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        logits = model(features, edges)
        loss = F.cross_entropy(logits[train], kinds[train], weight=weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"{len(losses)} epochs, accuracy {accuracy(model, features, edges, kinds, test):.3f}")
    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
