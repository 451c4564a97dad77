"""Trains a graph network that flags fraudulent accounts on sampled neighbourhoods of a payment graph."""
import statistics
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
ACCOUNTS = 40_000
PAYMENTS = 400_000
FEATURES = 32
HIDDEN = 64
FANOUT = (8, 5, 4)
BATCH = 64
REPORT_EVERY = 100


@dataclass
class Neighbourhood:
    """Seeds first, then the accounts found in each hop; edges point from a neighbour to the account that drew it."""
    accounts: torch.Tensor
    source: torch.Tensor
    target: torch.Tensor
    labels: torch.Tensor
    nodes_per_hop: list
    edges_per_hop: list


class PaymentGraph:
    def __init__(self, seed):
        generator = torch.Generator().manual_seed(seed)
        payer = torch.randint(ACCOUNTS, (PAYMENTS,), generator=generator)
        payee = (torch.rand(PAYMENTS, generator=generator) ** 1.5 * ACCOUNTS).long()
        ring = torch.rand(ACCOUNTS, generator=generator) < 0.12
        self.labels = ring.float()
        self.features = torch.randn(ACCOUNTS, FEATURES, generator=generator)
        self.features[:, :4] += 0.7 * self.labels[:, None]
        rewired = ring[payer] & (torch.rand(PAYMENTS, generator=generator) < 0.5)
        members = ring.nonzero().flatten()
        payee[rewired] = members[torch.randint(len(members), (int(rewired.sum()),), generator=generator)]
        both_source, both_target = torch.cat([payer, payee]), torch.cat([payee, payer])
        self.neighbours = both_source[both_target.argsort(stable=True)]
        degree = torch.bincount(both_target, minlength=ACCOUNTS)
        self.start = F.pad(degree.cumsum(0), (1, 0))


class NeighbourSampler:
    """Draws for each account of the frontier a fixed number of payment partners, hop after hop."""

    def __init__(self, graph, fanout, batch, seed):
        self.graph, self.fanout, self.batch = graph, fanout, batch
        self.generator = torch.Generator().manual_seed(seed)
        self.local = torch.full((len(graph.labels),), -1)

    def draw(self, frontier, count):
        start, end = self.graph.start[frontier], self.graph.start[frontier + 1]
        offset = torch.rand(len(frontier), count, generator=self.generator) * (end - start)[:, None]
        position = (start[:, None] + offset.long()).clamp(max=len(self.graph.neighbours) - 1)
        return self.graph.neighbours[position]

    def sample(self):
        seeds = torch.randperm(len(self.graph.labels), generator=self.generator)[:self.batch]
        self.local[seeds] = torch.arange(len(seeds))
        accounts, frontier, total = [seeds], seeds, len(seeds)
        source, target = [], []
        for count in self.fanout:
            drawn = self.draw(frontier, count).flatten()
            target.append(self.local[frontier].repeat_interleave(count))
            found = torch.unique(drawn[self.local[drawn] < 0])
            self.local[found] = torch.arange(total, total + len(found))
            source.append(self.local[drawn])
            accounts.append(found)
            frontier, total = found, total + len(found)
        every = torch.cat(accounts)
        self.local[every] = -1
        return Neighbourhood(every, torch.cat(source), torch.cat(target), self.graph.labels[seeds],
                             [len(a) for a in accounts], [len(s) for s in source])


class SageLayer(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.own = nn.Linear(inside, outside)
        self.other = nn.Linear(inside, outside, bias=False)

    def forward(self, x, source, target):
        total = torch.zeros_like(x).index_add(0, target, x[source])
        degree = torch.bincount(target, minlength=len(x)).clamp(min=1)
        return self.own(x) + self.other(total / degree[:, None])


class RingDetector(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [FEATURES] + [HIDDEN] * len(FANOUT)
        self.layers = nn.ModuleList(SageLayer(a, b) for a, b in zip(widths, widths[1:]))
        self.norms = nn.ModuleList(nn.LayerNorm(HIDDEN) for _ in FANOUT)
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, x, batch):
        source, target = batch.source, batch.target
        nodes, edges = len(x), len(source)
        for i, (layer, norm) in enumerate(zip(self.layers, self.norms)):
            if i > 0:
                nodes, edges = nodes - batch.nodes_per_hop[-i], edges - batch.edges_per_hop[-i]
                x, source, target = x[:nodes], source[:edges], target[:edges]
            x = F.relu(norm(layer(x, source, target)))
        return self.head(x[:batch.nodes_per_hop[0]]).flatten()


class Trainer:
    def __init__(self, graph):
        self.graph = graph
        self.sampler = NeighbourSampler(graph, FANOUT, BATCH, seed=42)
        self.model = RingDetector()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-3, weight_decay=1e-4)
        self.weight = torch.tensor(5.0)
        self.sizes = []

    def step(self):
        batch = self.sampler.sample()
        self.sizes.append((sum(batch.nodes_per_hop), sum(batch.edges_per_hop)))
        logits = self.model(self.graph.features[batch.accounts], batch)
        loss = F.binary_cross_entropy_with_logits(logits, batch.labels, pos_weight=self.weight)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
        self.optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    trainer = Trainer(PaymentGraph(seed=41))
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        losses.append(trainer.step())
        times.append((time.perf_counter() - began) * 1e3)
        if len(losses) % REPORT_EVERY == 0:
            nodes, edges = (sum(column) / len(trainer.sizes) for column in zip(*trainer.sizes))
            print(f"step {len(losses)}: loss {sum(losses[-50:]) / 50:.4f}, {nodes:.0f} accounts, {edges:.0f} payments")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
