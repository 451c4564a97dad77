"""Tells earthquakes, quarry blasts and noise apart in recordings of three seismic stations."""
import os
import statistics
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 23
STATIONS = ["north", "coast", "ridge"]
RECORDS_PER_STATION = 320
SAMPLES = 3000
KINDS = 3
BATCH_SIZE = 24
EPOCHS = 2
WIDTH = 32
LEARNING_RATE = 1e-3


def write_archives(folder):
    """One archive per station, as the recording software leaves them: traces and kinds."""
    rng = np.random.default_rng(SEED)
    moments = np.arange(SAMPLES) / 100
    for name in STATIONS:
        kinds = rng.integers(0, KINDS, size=RECORDS_PER_STATION)
        traces = rng.normal(scale=40, size=(RECORDS_PER_STATION, SAMPLES))
        for row, kind in enumerate(kinds):
            arrival = rng.uniform(4, 14)
            after = np.clip(moments - arrival, 0, None)
            if kind == 1:
                traces[row] += 260 * (after > 0) * np.exp(-after / 5) * np.sin(2 * np.pi * 2.5 * after)
            elif kind == 2:
                traces[row] += 320 * (after > 0) * np.exp(-after / 1.5) * np.sin(2 * np.pi * 7 * after)
        np.savez(os.path.join(folder, f"{name}.npz"), traces=traces.astype(np.int16), kinds=kinds)


class RecordDataset(Dataset):
    def __init__(self, folder):
        self.archives = [dict(np.load(os.path.join(folder, f"{name}.npz"))) for name in STATIONS]

    def __len__(self):
        return len(STATIONS) * RECORDS_PER_STATION

    def __getitem__(self, index):
        station, row = divmod(index, RECORDS_PER_STATION)
        archive = self.archives[station]
        trace = archive["traces"][row].astype(np.float32)
        trace -= trace.mean()
        trace /= trace.std() + 1e-6
        return torch.from_numpy(trace).unsqueeze(0), int(archive["kinds"][row])


class EventNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, WIDTH, 15, stride=3, padding=7),
            nn.BatchNorm1d(WIDTH),
            nn.ReLU(),
            nn.Conv1d(WIDTH, WIDTH, 9, stride=2, padding=4),
            nn.BatchNorm1d(WIDTH),
            nn.ReLU(),
            nn.Conv1d(WIDTH, 2 * WIDTH, 9, stride=2, padding=4),
            nn.BatchNorm1d(2 * WIDTH),
            nn.ReLU(),
            nn.Conv1d(2 * WIDTH, 2 * WIDTH, 5, stride=2, padding=2),
            nn.BatchNorm1d(2 * WIDTH),
            nn.ReLU(),
        )
        self.head = nn.Linear(2 * WIDTH, KINDS)

    def forward(self, traces):
        return self.head(self.features(traces).amax(dim=2))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    with tempfile.TemporaryDirectory() as folder:
        write_archives(folder)
        loader = DataLoader(RecordDataset(folder), batch_size=BATCH_SIZE, shuffle=True)
        model = EventNet()
        optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

        step_times = []
        losses = []
        for epoch in range(EPOCHS):
            started = time.perf_counter()
            for traces, kinds in loader:
                loss = F.cross_entropy(model(traces), kinds)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                now = time.perf_counter()
                step_times.append(now - started)
                started = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
