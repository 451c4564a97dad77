"""A small MLP whose batches are decoded in the training process: the step waits for its data.

usage: python mlp.py TRACE.json [WORKERS]      WORKERS: loader processes, 0 by default (the slow way)
"""
import sys
import zlib

import numpy as np
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, Dataset

FEATURES, CLASSES, BATCH = 1024, 10, 64
WAIT, WARMUP, RECORDED = 1, 1, 4


class CompressedRows(Dataset):
    """Rows kept as zlib text; reading one unpacks, parses and normalises it."""

    def __init__(self, rows):
        random = np.random.default_rng(0)
        pool = random.normal(size=(64, FEATURES)).astype(np.float32)
        self.blobs = [zlib.compress(" ".join(f"{x:.5f}" for x in row).encode()) for row in pool]
        self.rows = rows

    def __len__(self):
        return self.rows

    def __getitem__(self, index):
        text = zlib.decompress(self.blobs[index % len(self.blobs)])
        row = np.array(text.split(), dtype=np.float32)
        row = (row - row.mean()) / row.std()
        return torch.from_numpy(row), index % CLASSES


def train(trace_path, workers):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    steps = WAIT + WARMUP + RECORDED
    loader = DataLoader(CompressedRows(steps * BATCH), batch_size=BATCH, num_workers=workers)
    model = nn.Sequential(nn.Linear(FEATURES, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                          nn.Linear(1024, CLASSES))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                 schedule=schedule(wait=WAIT, warmup=WARMUP, active=RECORDED, repeat=1),
                 on_trace_ready=lambda prof: prof.export_chrome_trace(trace_path)) as prof:
        for rows, labels in loader:
            optimizer.zero_grad()
            loss = loss_of(model(rows), labels)
            loss.backward()
            optimizer.step()
            prof.step()


if __name__ == "__main__":
    train(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
