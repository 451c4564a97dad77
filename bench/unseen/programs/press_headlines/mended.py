"""Trains a classifier of press headlines on two ranks with accumulated gradients."""
import statistics
import tempfile
import time
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

SEED = 61
RANKS = 2
WORDS = 24000
LENGTH = 24
WIDTH = 192
LAYERS = 2
DESKS = 14
HEADLINES = 16000
BATCH_SIZE = 8
ACCUMULATE = 4
LEARNING_RATE = 0.05
RUN_SECONDS = 10.0
COMPARED_STEPS = 12


def make_headlines():
    rng = np.random.default_rng(SEED)
    desks = rng.integers(DESKS, size=HEADLINES)
    words = (rng.pareto(0.8, size=(HEADLINES, LENGTH)) * 40).astype(np.int64) % (WORDS - 1) + 1
    marks = rng.random((HEADLINES, LENGTH)) < 0.3
    words[marks] = words[marks] % 50 + 50 * (desks[np.nonzero(marks)[0]] + 1)
    return TensorDataset(torch.from_numpy(words), torch.from_numpy(desks))


class HeadlineModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, LAYERS)
        self.desks = nn.Linear(WIDTH, DESKS)

    def forward(self, words):
        hidden = self.encoder(self.words(words) + self.places)
        return self.desks(hidden.mean(dim=1))


class Trainer:
    def __init__(self, rank):
        self.rank = rank
        dataset = make_headlines()
        self.sampler = DistributedSampler(dataset, num_replicas=RANKS, rank=rank, seed=SEED)
        self.loader = DataLoader(dataset, batch_size=BATCH_SIZE, sampler=self.sampler, drop_last=True)
        self.model = DistributedDataParallel(HeadlineModel())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=LEARNING_RATE, momentum=0.9)

    def micro_batches(self):
        epoch = 0
        while True:
            self.sampler.set_epoch(epoch)
            yield from self.loader
            epoch += 1

    def accumulate(self, words, desks):
        loss = F.cross_entropy(self.model(words), desks) / ACCUMULATE
        loss.backward()
        return loss.item()

    def step(self, micro_batches):
        loss = 0.0
        with self.model.no_sync():
            for _ in range(ACCUMULATE - 1):
                words, desks = next(micro_batches)
                loss += self.accumulate(words, desks)
        words, desks = next(micro_batches)
        loss += self.accumulate(words, desks)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss

    def over(self, started):
        flag = torch.tensor([time.perf_counter() - started > RUN_SECONDS], dtype=torch.int32)
        dist.broadcast(flag, src=0)
        return bool(flag)

    def train(self, started):
        step_times, losses = [], []
        micro_batches = self.micro_batches()
        last = time.perf_counter()
        while not self.over(started):
            losses.append(self.step(micro_batches))
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if self.rank == 0 and len(losses) % 20 == 0:
                print(f"step {len(losses)}: loss {statistics.mean(losses[-20:]):.4f}", flush=True)
        return step_times, losses


def run(rank, meeting_point):
    started = time.perf_counter()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    dist.init_process_group(
        "gloo", init_method=f"file://{meeting_point}/ranks", rank=rank, world_size=RANKS,
        timeout=timedelta(seconds=60),
    )
    step_times, losses = Trainer(rank).train(started)
    if rank == 0:
        print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
        print(f"result={statistics.mean(losses[:COMPARED_STEPS]):.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


def main():
    with tempfile.TemporaryDirectory() as meeting_point:
        mp.spawn(run, args=(meeting_point,), nprocs=RANKS)


if __name__ == "__main__":
    main()
