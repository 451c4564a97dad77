"""Finds the field of scientific papers from their text vectors and citations (GraphSAGE)."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 61
PAPERS = 5000
CITATIONS = 20_000
FIELDS = 10
TEXT_WIDTH = 768
HIDDEN = 128
EPOCHS = 160
LEARNING_RATE = 5e-3
TRAINED_SHARE = 0.3


def make_library():
    rng = np.random.default_rng(SEED)
    fields = rng.integers(FIELDS, size=PAPERS)
    centres = rng.normal(size=(FIELDS, TEXT_WIDTH))
    texts = 0.08 * centres[fields] + rng.normal(size=(PAPERS, TEXT_WIDTH))
    sources = rng.integers(PAPERS, size=CITATIONS)
    targets = rng.integers(PAPERS, size=CITATIONS)
    by_field = [np.flatnonzero(fields == field) for field in range(FIELDS)]
    for number in np.flatnonzero(rng.random(CITATIONS) < 0.6):
        same = by_field[fields[sources[number]]]
        targets[number] = same[rng.integers(len(same))]
    return texts, fields, np.stack([sources, targets])


def both_ways(links):
    links = torch.from_numpy(links)
    links = torch.cat([links, links.flip(0)], dim=1)
    degree = torch.bincount(links[1], minlength=PAPERS).clamp(min=1)
    return links, 1 / degree.float().unsqueeze(1)


class SageLayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.others = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, links, share):
        messages = self.others(x)
        total = torch.zeros_like(messages)
        total = total.index_add(0, links[1], messages.index_select(0, links[0]))
        return self.own(x) + total * share


class PaperModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = SageLayer(TEXT_WIDTH, HIDDEN)
        self.second = SageLayer(HIDDEN, FIELDS)

    def forward(self, x, links, share):
        x = F.relu(self.first(x, links, share))
        x = F.dropout(x, 0.5, self.training)
        return self.second(x, links, share)


def main():
    torch.manual_seed(SEED)
    texts, fields, links = make_library()
    x = torch.tensor(texts, dtype=torch.float32)
    y = torch.from_numpy(fields)
    links, share = both_ways(links)
    trained = torch.rand(PAPERS) < TRAINED_SHARE

    model = PaperModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, weight_decay=5e-4)
    train_papers = trained.nonzero().squeeze(1)
    test_papers = (~trained).nonzero().squeeze(1)
    losses, step_times = [], []
    for epoch in range(EPOCHS):
        start = time.perf_counter()
        model.train()
        logits = model(x, links, share)
        loss = F.cross_entropy(logits[train_papers], y[train_papers])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - start)
        if (epoch + 1) % 40 == 0:
            print(f"epoch {epoch + 1}: loss {losses[-1]:.4f}")

    model.eval()
    with torch.no_grad():
        guessed = model(x, links, share).argmax(dim=1)
    right = (guessed == y)[test_papers].float().mean().item()
    print(f"right fields of the other papers: {right:.3f}")
    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={losses[-1]:.6f}")


if __name__ == "__main__":
    main()
