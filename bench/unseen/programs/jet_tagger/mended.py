"""Jet flavour tagging from variable-length track lists stored in one packed binary file."""
import os
import shutil
import statistics
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

TRAIN_SECONDS = 11
EVENTS = 6000
TRACK_FEATURES = 12
VERTEX_FEATURES = 6
CLASSES = 5
BATCH_SIZE = 64


def write_events(folder):
    rng = np.random.default_rng(41)
    track_counts = rng.integers(12, 40, size=EVENTS)
    vertex_counts = rng.integers(2, 8, size=EVENTS)
    flavour = rng.integers(0, CLASSES, size=EVENTS)
    track_start = np.concatenate([[0], np.cumsum(track_counts)])
    vertex_start = np.concatenate([[0], np.cumsum(vertex_counts)])
    tracks = rng.standard_normal((track_start[-1], TRACK_FEATURES)).astype(np.float32)
    vertices = rng.standard_normal((vertex_start[-1], VERTEX_FEATURES)).astype(np.float32)
    tracks[:, 0] += np.repeat(flavour, track_counts) * 0.5
    vertices[:, 1] -= np.repeat(flavour, vertex_counts) * 0.3
    for name, array in (("tracks", tracks), ("vertices", vertices), ("flavour", flavour),
                        ("track_start", track_start), ("vertex_start", vertex_start)):
        np.save(os.path.join(folder, name + ".npy"), array)


class JetDataset(Dataset):
    def __init__(self, folder):
        self.tracks = np.load(os.path.join(folder, "tracks.npy"), mmap_mode="r")
        self.vertices = np.load(os.path.join(folder, "vertices.npy"), mmap_mode="r")
        self.flavour = np.load(os.path.join(folder, "flavour.npy"))
        self.track_start = np.load(os.path.join(folder, "track_start.npy"))
        self.vertex_start = np.load(os.path.join(folder, "vertex_start.npy"))

    def __len__(self):
        return len(self.flavour)

    def __getitem__(self, index):
        t0, t1 = self.track_start[index], self.track_start[index + 1]
        v0, v1 = self.vertex_start[index], self.vertex_start[index + 1]
        return {
            "tracks": torch.from_numpy(np.array(self.tracks[t0:t1])),
            "vertices": torch.from_numpy(np.array(self.vertices[v0:v1])),
            "flavour": torch.tensor(self.flavour[index]),
        }


def pack(samples):
    track_counts = torch.tensor([len(s["tracks"]) for s in samples])
    vertex_counts = torch.tensor([len(s["vertices"]) for s in samples])
    index = torch.arange(len(samples))
    return {
        "tracks": torch.cat([s["tracks"] for s in samples]),
        "track_jet": index.repeat_interleave(track_counts),
        "vertices": torch.cat([s["vertices"] for s in samples]),
        "vertex_jet": index.repeat_interleave(vertex_counts),
        "flavour": torch.stack([s["flavour"] for s in samples]),
    }


class DeepSet(nn.Module):
    def __init__(self, width=320):
        super().__init__()
        self.track_net = nn.Sequential(nn.Linear(TRACK_FEATURES, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                                       nn.Linear(width, width), nn.ReLU())
        self.vertex_net = nn.Sequential(nn.Linear(VERTEX_FEATURES, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, CLASSES))
        self.width = width

    def pool(self, features, owner, jets):
        return features.new_zeros(jets, self.width).index_add_(0, owner, features)

    def forward(self, batch):
        jets = len(batch["flavour"])
        tracks = self.pool(self.track_net(batch["tracks"]), batch["track_jet"], jets) / 25
        vertices = self.pool(self.vertex_net(batch["vertices"]), batch["vertex_jet"], jets) / 5
        return self.head(torch.cat([tracks, vertices], dim=1))


def batches(loader):
    while True:
        yield from loader


def main():
    torch.set_num_threads(1)
    torch.manual_seed(7)
    folder = tempfile.mkdtemp(prefix="jets_")
    write_events(folder)
    loader = DataLoader(JetDataset(folder), batch_size=BATCH_SIZE, shuffle=True, drop_last=True, num_workers=1,
                        collate_fn=pack, persistent_workers=True, prefetch_factor=4,
                        generator=torch.Generator().manual_seed(3))
    model = DeepSet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses, times = [], []
    started = last = time.perf_counter()
    for batch in batches(loader):
        loss = F.cross_entropy(model(batch), batch["flavour"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        times.append((now - last) * 1000)
        last = now
        if now - started > TRAIN_SECONDS:
            break
    shutil.rmtree(folder)
    print(f"steps={len(times)} last_loss={losses[-1]:.3f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
