"""Tells the field of each paper of a citation network from its words and its neighbours."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 8
PAPERS = 3000
WORDS = 500
FIELDS = 7
CITATIONS_PER_PAPER = 5
HIDDEN = 64
DROPOUT = 0.5
STEPS = 60
LEARNING_RATE = 0.01


def make_network():
    """Papers cite mostly papers of their own field; returns words, fields and the citations as pairs."""
    rng = np.random.default_rng(SEED)
    fields = rng.integers(0, FIELDS, size=PAPERS)
    topics = rng.dirichlet(np.full(WORDS, 0.1), size=FIELDS)
    words = np.zeros((PAPERS, WORDS), dtype=np.float32)
    for paper in range(PAPERS):
        own = rng.choice(WORDS, size=8, p=topics[fields[paper]])
        words[paper, own] = 1.0
        words[paper, rng.integers(0, WORDS, size=20)] = 1.0
    members = [np.flatnonzero(fields == field) for field in range(FIELDS)]
    citing = np.repeat(np.arange(PAPERS), CITATIONS_PER_PAPER)
    cited = np.empty_like(citing)
    for position, paper in enumerate(citing):
        if rng.random() < 0.7:
            cited[position] = rng.choice(members[fields[paper]])
        else:
            cited[position] = rng.integers(0, PAPERS)
    return torch.from_numpy(words), torch.from_numpy(fields), torch.from_numpy(np.stack([citing, cited]))


def normalized_adjacency(citations):
    """D^-1/2 (A + I) D^-1/2 of the undirected network."""
    adjacency = torch.eye(PAPERS)
    citing, cited = citations
    adjacency[citing, cited] = 1.0
    adjacency[cited, citing] = 1.0
    scale = adjacency.sum(dim=1).rsqrt()
    adjacency = scale.unsqueeze(1) * adjacency * scale
    return adjacency


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x, adjacency):
        return adjacency @ self.linear(x) + self.bias


class PaperNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GraphConvolution(WORDS, HIDDEN)
        self.second = GraphConvolution(HIDDEN, HIDDEN)
        self.third = GraphConvolution(HIDDEN, FIELDS)

    def forward(self, words, adjacency):
        x = F.dropout(words, DROPOUT, self.training)
        x = F.relu(self.first(x, adjacency))
        x = F.dropout(x, DROPOUT, self.training)
        x = x + F.relu(self.second(x, adjacency))
        return self.third(x, adjacency)


def accuracy(model, words, adjacency, fields, papers):
    model.eval()
    with torch.no_grad():
        guesses = model(words, adjacency).argmax(dim=1)
    return (guesses[papers] == fields[papers]).float().mean().item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    words, fields, citations = make_network()
    adjacency = normalized_adjacency(citations)
    order = torch.randperm(PAPERS)
    known, held_out = order[:600], order[600:]

    model = PaperNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, weight_decay=5e-4)
    step_times = []
    losses = []
    for step in range(STEPS):
        started = time.perf_counter()
        model.train()
        optimizer.zero_grad()
        logits = model(words, adjacency)
        loss = F.cross_entropy(logits[known], fields[known])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - started)

    print(f"{accuracy(model, words, adjacency, fields, held_out):.1%} of the other papers are right")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
