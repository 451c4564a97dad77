"""Learns to tell owls by their calls, in two processes with gloo."""
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

SEED = 78
PROCESSES = 2
CALLS = 1200
OWLS = 12
RATE = 8000
SAMPLES = 8000
FRAME = 256
BATCH_SIZE = 16
CHANNELS = 256
EPOCHS = 2
LEARNING_RATE = 3e-4


def make_calls():
    generator = torch.Generator().manual_seed(SEED)
    owls = torch.randint(OWLS, (CALLS,), generator=generator)
    moments = torch.arange(SAMPLES) / RATE
    pitch = 300 + 90 * owls + 25 * torch.randn(CALLS, generator=generator)
    trill = 3 + owls % 4
    phase = pitch.unsqueeze(1) * moments + 8 * torch.sin(6.28 * trill.unsqueeze(1) * moments)
    noise = torch.randn(CALLS, SAMPLES, generator=generator)
    return torch.sin(6.28 * phase) + 0.8 * noise, owls


class Spectrum(nn.Module):
    def __init__(self):
        super().__init__()
        self.window = torch.hann_window(FRAME)

    def forward(self, calls):
        spectrum = torch.stft(calls, FRAME, FRAME // 2, window=self.window, return_complex=True)
        return spectrum.abs().add(1e-3).log()


class ResidualUnit(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.norm = nn.GroupNorm(8, channels)
        self.wide = nn.Conv1d(channels, 2 * channels, 3, padding=dilation, dilation=dilation)
        self.narrow = nn.Conv1d(2 * channels, channels, 1)

    def forward(self, x):
        return x + self.narrow(F.gelu(self.wide(self.norm(x))))


class OwlModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.spectrum = Spectrum()
        self.enter = nn.Conv1d(FRAME // 2 + 1, CHANNELS, 3, padding=1)
        self.units = nn.Sequential(*[ResidualUnit(CHANNELS, 2 ** i) for i in range(5)])
        self.head = nn.Linear(CHANNELS, OWLS)

    def forward(self, calls):
        x = self.units(self.enter(self.spectrum(calls)))
        return self.head(x.mean(dim=2))


class Trainer:
    def __init__(self, model):
        self.model = DistributedDataParallel(model, gradient_as_bucket_view=True)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)

    def step(self, calls, owls):
        loss = F.cross_entropy(self.model(calls), owls)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def train(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=PROCESSES
    )
    calls, owls = make_calls()
    torch.manual_seed(SEED)
    trainer = Trainer(OwlModel())

    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        order = torch.randperm(CALLS)[rank::PROCESSES]
        for rows in order.split(BATCH_SIZE):
            losses.append(trainer.step(calls[rows], owls[rows]))
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    if rank == 0:
        print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
        print(f"result={statistics.mean(losses[-10:]):.6f}")
    dist.destroy_process_group()


def main():
    torch.set_num_threads(2)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(folder,), nprocs=PROCESSES)


if __name__ == "__main__":
    main()
