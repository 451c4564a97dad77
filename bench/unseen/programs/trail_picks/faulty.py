"""Trains a LightGCN recommender of hiking trails with the BPR loss on synthetic visits."""
import statistics
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
HIKERS = 3500
TRAILS = 2500
REGIONS = 12
VISITS = 22
WIDTH = 48
LAYERS = 2
BATCH = 2048
UNSEEN = 2
DECAY = 1e-4
TOP = 20


class TrailVisits:
    """Each hiker visits about VISITS trails, most of them in one or two home regions, popular trails more often."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        region = rng.integers(REGIONS, size=TRAILS)
        appeal = rng.pareto(1.5, size=TRAILS) + 0.2
        self.trails_of, self.held_out = [], np.empty(HIKERS, dtype=np.int64)
        weights = [appeal * np.where(region == home, 12.0, 0.4) for home in range(REGIONS)]
        weights = [weight / weight.sum() for weight in weights]
        for hiker in range(HIKERS):
            number = max(4, int(rng.poisson(VISITS)))
            visited = rng.choice(TRAILS, size=number, replace=False, p=weights[rng.integers(REGIONS)])
            self.held_out[hiker] = visited[-1]
            self.trails_of.append(visited[:-1])
        self.hikers = torch.from_numpy(np.repeat(np.arange(HIKERS), [len(trails) for trails in self.trails_of]))
        self.trails = torch.from_numpy(np.concatenate(self.trails_of))


class NegativeSampler:
    """Draws trails that a hiker has not visited; a draw that hits a visit is drawn again."""

    def __init__(self, visits, generator):
        self.visits, self.generator = visits, generator

    def draw(self, count):
        return torch.randint(TRAILS, (count,), generator=self.generator)

    def is_visit(self, hikers, trails):
        return torch.isin(hikers * TRAILS + trails, self.visits.hikers * TRAILS + self.visits.trails)

    def __call__(self, hikers):
        trails = self.draw(len(hikers))
        again = self.is_visit(hikers, trails).nonzero().squeeze(1)
        while len(again) > 0:
            drawn = self.draw(len(again))
            trails[again] = drawn
            again = again[self.is_visit(hikers[again], drawn)]
        return trails


def bpr_batches(visits, seed):
    """Endless (hiker, visited trail, UNSEEN trails not visited) batches, shuffled anew in each epoch."""
    generator = torch.Generator().manual_seed(seed)
    sampler = NegativeSampler(visits, generator)
    while True:
        for chosen in torch.randperm(len(visits.hikers), generator=generator).split(BATCH)[:-1]:
            hikers = visits.hikers[chosen]
            unseen = torch.stack([sampler(hikers) for _ in range(UNSEEN)], dim=1)
            yield hikers, visits.trails[chosen], unseen


def build_graph(visits):
    """Symmetrically normalised adjacency of the bipartite graph; hikers come first, trails after them."""
    hikers, trails = visits.hikers, visits.trails + HIKERS
    rows, columns = torch.cat([hikers, trails]), torch.cat([trails, hikers])
    nodes = HIKERS + TRAILS
    degree = torch.bincount(rows, minlength=nodes).clamp(min=1).float()
    values = degree[rows].rsqrt() * degree[columns].rsqrt()
    return torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (nodes, nodes)).coalesce()


class LightGCN(nn.Module):
    def __init__(self, graph):
        super().__init__()
        self.register_buffer("graph", graph)
        self.embedding = nn.Embedding(HIKERS + TRAILS, WIDTH)
        nn.init.normal_(self.embedding.weight, std=0.1)

    def propagate(self):
        state = self.embedding.weight
        total = state
        for _ in range(LAYERS):
            state = torch.sparse.mm(self.graph, state)
            total = total + state
        return (total / (LAYERS + 1)).split([HIKERS, TRAILS])

    def forward(self, hikers, seen, unseen):
        hiker_state, trail_state = self.propagate()
        hiker = hiker_state[hikers]
        margin = torch.einsum("bw,bnw->bn", hiker, trail_state[seen][:, None] - trail_state[unseen])
        first = (self.embedding(index).square().sum() for index in (hikers, seen + HIKERS, unseen + HIKERS))
        return F.softplus(-margin).mean() + DECAY * sum(first) / len(hikers)


@torch.no_grad()
def hit_rate(model, visits):
    """Share of hikers whose held-out trail is among the TOP best trails that they have not visited."""
    hiker_state, trail_state = model.propagate()
    scores = hiker_state @ trail_state.T
    scores[visits.hikers, visits.trails] = -torch.inf
    best = scores.topk(TOP, dim=-1).indices
    return (best == torch.from_numpy(visits.held_out)[:, None]).any(-1).float().mean().item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    visits = TrailVisits(41)
    model = LightGCN(build_graph(visits))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    batches = bpr_batches(visits, 42)
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        hikers, seen, unseen = next(batches)
        loss = model(hikers, seen, unseen)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append((time.perf_counter() - began) * 1e3)
    print(f"hit_rate={hit_rate(model, visits):.3f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
