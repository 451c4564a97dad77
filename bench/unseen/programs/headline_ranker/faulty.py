"""Two-rank training of a news ranker: readers' click histories against candidate headlines."""
import os
import socket
import statistics
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

TRAIN_SECONDS = 11
WORLD = 2
ARTICLES = 40_000
TEXT_DIM = 384
HISTORY = 20
CANDIDATES = 5
BATCH = 48


class HeadlineEncoder(nn.Module):
    """Sentence vectors come from a frozen language model; only the projection is trained."""

    def __init__(self, text_vectors, topics, width):
        super().__init__()
        self.register_buffer("text_vectors", text_vectors)
        self.register_buffer("topics", topics)
        self.topic = nn.Embedding(64, 32)
        self.project = nn.Sequential(nn.Linear(TEXT_DIM + 32, 192), nn.GELU(), nn.Linear(192, width))

    def forward(self, articles):
        features = torch.cat([self.text_vectors[articles], self.topic(self.topics[articles])], dim=-1)
        return self.project(features)


class ReaderEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.score = nn.Sequential(nn.Linear(width, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, clicked):
        mixed, _ = self.attention(clicked, clicked, clicked, need_weights=False)
        mixed = self.norm(clicked + mixed)
        weights = self.score(mixed).softmax(dim=1)
        return (weights * mixed).sum(dim=1)


class Ranker(nn.Module):
    def __init__(self, text_vectors, topics, width=96):
        super().__init__()
        self.headlines = HeadlineEncoder(text_vectors, topics, width)
        self.reader = ReaderEncoder(width)

    def forward(self, history, candidates):
        reader = self.reader(self.headlines(history))
        offered = self.headlines(candidates)
        return (offered @ reader.unsqueeze(-1)).squeeze(-1)


def make_articles():
    generator = torch.Generator().manual_seed(3)
    topics = torch.randint(64, (ARTICLES,), generator=generator)
    centres = torch.randn(64, TEXT_DIM, generator=generator)
    vectors = centres[topics] + 0.7 * torch.randn(ARTICLES, TEXT_DIM, generator=generator)
    return F.normalize(vectors, dim=-1), topics


class Impressions:
    """Each reader keeps to a few topics; the clicked candidate is the first one."""

    def __init__(self, topics, rank):
        self.generator = torch.Generator().manual_seed(100 + rank)
        self.order = topics.argsort(stable=True)
        self.counts = torch.bincount(topics, minlength=64)
        self.starts = self.counts.cumsum(0) - self.counts

    def of_topic(self, wanted):
        draw = torch.rand(wanted.shape, generator=self.generator)
        return self.order[self.starts[wanted] + (draw * self.counts[wanted]).long()]

    def batch(self):
        favourites = torch.randint(64, (BATCH, 3), generator=self.generator)
        pick = torch.randint(3, (BATCH, HISTORY + 1), generator=self.generator)
        liked = self.of_topic(favourites.gather(1, pick))
        others = torch.randint(ARTICLES, (BATCH, CANDIDATES - 1), generator=self.generator)
        candidates = torch.cat([liked[:, -1:], others], dim=1)
        return liked[:, :-1], candidates


def time_is_up(start):
    flag = torch.tensor([float(time.perf_counter() - start > TRAIN_SECONDS)])
    dist.all_reduce(flag, op=dist.ReduceOp.MAX)
    return bool(flag.item())


def train(rank, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.manual_seed(0)
    text_vectors, topics = make_articles()
    impressions = Impressions(topics, rank)
    model = DistributedDataParallel(Ranker(text_vectors, topics))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    labels = torch.zeros(BATCH, dtype=torch.long)

    losses, times, step = [], [], 0
    start = time.perf_counter()
    while True:
        began = time.perf_counter()
        history, candidates = impressions.batch()
        loss = F.cross_entropy(model(history, candidates), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append((time.perf_counter() - began) * 1e3)
        step += 1
        if step % 10 == 0 and time_is_up(start):
            break

    first = torch.tensor([sum(losses[:15]) / 15])
    dist.all_reduce(first)
    if rank == 0:
        print(f"steps={step} last loss {losses[-1]:.3f}")
        print(f"step_ms={statistics.median(times[3:]):.2f}")
        print(f"result={first.item() / WORLD:.4f}")
    dist.destroy_process_group()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    mp.spawn(train, args=(free_port(),), nprocs=WORLD)
