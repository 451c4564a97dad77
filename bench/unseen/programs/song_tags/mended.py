"""Tags songs with moods, genres and instruments; rare tags are drawn as often as frequent ones."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, Sampler

SEED = 68
SONGS = 40000
TAGS = 60
BANDS = 32
FRAMES = 20
BATCH_SIZE = 192
BATCHES = 200
LEARNING_RATE = 1e-3


def make_songs():
    """Each tag leaves its own trace in the song's bands; a few tags are on most of the songs."""
    rng = np.random.default_rng(SEED)
    share = 0.35 / (1 + np.arange(TAGS)) ** 0.8
    labels = (rng.random((SONGS, TAGS)) < share).astype(np.float32)
    traces = rng.normal(0, 1, size=(TAGS, BANDS)).astype(np.float32)
    rhythm = rng.normal(0, 1, size=(TAGS, FRAMES)).astype(np.float32)
    songs = np.empty((SONGS, BANDS, FRAMES), dtype=np.float32)
    for start in range(0, SONGS, 1000):
        part = slice(start, start + 1000)
        sound = np.einsum("st,tb,tf->sbf", labels[part], traces, rhythm, optimize=True)
        songs[part] = sound + rng.normal(0, 1.2, size=sound.shape)
    return songs, labels


class SongDataset(Dataset):
    def __init__(self, songs, labels):
        self.songs = torch.from_numpy(songs)
        self.labels = torch.from_numpy(labels)

    def __len__(self):
        return len(self.songs)

    def __getitem__(self, index):
        return self.songs[index], self.labels[index]


class TagBalancedSampler(Sampler):
    """Draws a tag first and then one of the songs that have it."""

    def __init__(self, labels, draws):
        self.songs_with = [np.flatnonzero(labels[:, tag]) for tag in range(TAGS)]
        self.draws = draws
        self.rng = np.random.default_rng(SEED + 1)

    def __len__(self):
        return self.draws

    def __iter__(self):
        for _ in range(self.draws):
            tag = self.rng.integers(TAGS)
            having = self.songs_with[tag]
            yield int(having[self.rng.integers(len(having))])


class TagNet(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.frames = nn.Sequential(
            nn.Conv1d(BANDS, width, 3, padding=1), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 3, padding=1), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 3, padding=1), nn.BatchNorm1d(width), nn.ReLU(),
        )
        self.tags = nn.Sequential(nn.Dropout(0.2), nn.Linear(2 * width, TAGS))

    def forward(self, songs):
        frames = self.frames(songs)
        return self.tags(torch.cat([frames.mean(dim=2), frames.amax(dim=2)], dim=1))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    songs, labels = make_songs()
    sampler = TagBalancedSampler(labels, BATCHES * BATCH_SIZE)
    loader = DataLoader(SongDataset(songs, labels), batch_size=BATCH_SIZE, sampler=sampler)
    positives = torch.from_numpy(labels.sum(axis=0))
    pos_weight = ((SONGS - positives) / positives).sqrt()
    model = TagNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    last = time.perf_counter()
    for songs, tags in loader:
        loss = F.binary_cross_entropy_with_logits(model(songs), tags, pos_weight=pos_weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-20:]):.6f}")


if __name__ == "__main__":
    main()
