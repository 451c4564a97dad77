"""Sorts news items into topics with fixed word vectors, trained by two processes with DistributedDataParallel."""
import os
import socket
import statistics
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

SEED = 37
RANKS = 2
VOCABULARY = 80000
VECTOR = 128
TOPICS = 12
ITEMS = 2048
LENGTH = 48
FILTERS = 48
BATCH_SIZE = 16
EPOCHS = 1
LEARNING_RATE = 2e-3


def make_vectors_and_items():
    """Word vectors around a centre for each topic, and items that mix their topic's words with others."""
    rng = np.random.default_rng(SEED)
    topic_of_word = rng.integers(TOPICS, size=VOCABULARY)
    centres = rng.normal(scale=0.5, size=(TOPICS, VECTOR))
    vectors = centres[topic_of_word] + rng.normal(size=(VOCABULARY, VECTOR))
    topics = rng.integers(TOPICS, size=ITEMS)
    items = rng.integers(VOCABULARY, size=(ITEMS, LENGTH))
    for topic in range(TOPICS):
        words = np.flatnonzero(topic_of_word == topic)
        rows = np.flatnonzero(topics == topic)
        items[rows, :8] = rng.choice(words, size=(len(rows), 8))
    items = rng.permuted(items, axis=1)
    return torch.from_numpy(vectors.astype(np.float32)), torch.from_numpy(items), torch.from_numpy(topics)


class WordVectors(nn.Module):
    """A lookup of word vectors that are not trained."""

    def __init__(self, vectors):
        super().__init__()
        self.register_buffer("vectors", vectors)

    def forward(self, words):
        return F.embedding(words, self.vectors)


class TopicNet(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.words = WordVectors(vectors)
        self.filters = nn.ModuleList(
            nn.Conv1d(VECTOR, FILTERS, width, padding=width // 2) for width in (1, 3, 5)
        )
        self.head = nn.Sequential(
            nn.Linear(3 * FILTERS, 128), nn.ReLU(), nn.Linear(128, TOPICS)
        )

    def forward(self, words):
        x = self.words(words).transpose(1, 2)
        found = [F.relu(filters(x)).amax(dim=2) for filters in self.filters]
        return self.head(torch.cat(found, dim=1))


def train(rank, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    torch.manual_seed(SEED)
    vectors, items, topics = make_vectors_and_items()
    dataset = TensorDataset(items, topics)
    sampler = DistributedSampler(dataset, RANKS, rank, seed=SEED)
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, sampler=sampler)
    model = DistributedDataParallel(TopicNet(vectors))
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        started = time.perf_counter()
        for words, targets in loader:
            loss = F.cross_entropy(model(words), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - started)
            started = now

    if rank == 0:
        print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
        print(f"result={statistics.mean(losses[-10:]):.6f}")
    dist.destroy_process_group()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    mp.spawn(train, args=(free_port(),), nprocs=RANKS)


if __name__ == "__main__":
    main()
