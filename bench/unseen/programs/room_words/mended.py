"""Recognises spoken commands in reverberant rooms."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from scipy import signal
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 17
CLIPS = 480
WORDS = 12
RATE = 8000
ROOMS = 20
ROOM_SECONDS = 0.4
FRAME = 256
HOP = 80
WIDTH = 64
BATCH_SIZE = 16
EPOCHS = 2
LEARNING_RATE = 1e-3


def make_recordings(rng):
    """A table of the recordings and their waves: a word is three tones that follow each other."""
    tones = rng.uniform(200, 3000, size=(WORDS, 3))
    moments = np.arange(RATE) / RATE
    table = pd.DataFrame({
        "word": rng.integers(WORDS, size=CLIPS),
        "speaker": rng.integers(30, size=CLIPS),
        "loudness": rng.uniform(0.4, 1.0, size=CLIPS),
    })
    waves = []
    for row in table.itertuples():
        pitch = 0.9 + 0.2 * row.speaker / 30
        wave = rng.normal(scale=0.02, size=RATE)
        for place, tone in enumerate(tones[row.word]):
            centre = 0.25 + 0.25 * place + rng.normal(scale=0.02)
            envelope = np.exp(-((moments - centre) / 0.07) ** 2)
            wave += row.loudness * envelope * np.sin(2 * np.pi * pitch * tone * moments)
        waves.append(wave.astype(np.float32))
    table["level"] = table["loudness"] / table.groupby("speaker")["loudness"].transform("mean")
    return table, waves


def make_rooms(rng):
    """Impulse responses of rooms, which die away faster or slower."""
    length = int(ROOM_SECONDS * RATE)
    moments = np.arange(length) / RATE
    rooms = []
    for _ in range(ROOMS):
        response = rng.normal(size=length) * np.exp(-moments / rng.uniform(0.03, 0.12))
        response[0] = 4.0
        rooms.append((response / np.abs(response).sum()).astype(np.float32))
    return rooms


class CommandDataset(Dataset):
    def __init__(self, table, waves, rooms, rng):
        self.words = table["word"].to_numpy()
        self.levels = table["level"].to_numpy(dtype=np.float32)
        self.waves = waves
        self.rooms = rooms
        self.rng = rng

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, index):
        wave = self.waves[index] / self.levels[index]
        room = self.rooms[self.rng.integers(len(self.rooms))]
        wave = signal.fftconvolve(wave, room)[:RATE]
        wave = wave / np.abs(wave).max()
        return torch.from_numpy(wave), self.words[index]


class CommandNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.from_numpy(signal.get_window("hann", FRAME)).float())
        self.convs = nn.Sequential(
            nn.Conv1d(FRAME // 2 + 1, WIDTH, 5, padding=2),
            nn.BatchNorm1d(WIDTH),
            nn.ReLU(),
            nn.Conv1d(WIDTH, WIDTH, 5, stride=2, padding=2),
            nn.BatchNorm1d(WIDTH),
            nn.ReLU(),
        )
        self.memory = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, waves):
        spectrum = torch.stft(waves, FRAME, HOP, window=self.window, return_complex=True)
        x = self.convs(torch.log1p(10 * spectrum.abs()))
        x, _ = self.memory(x.transpose(1, 2))
        return self.head(x.mean(dim=1))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    table, waves = make_recordings(rng)
    dataset = CommandDataset(table, waves, make_rooms(rng), rng)
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True)
    model = CommandNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    for epoch in range(EPOCHS):
        began = time.perf_counter()
        for batch, words in loader:
            loss = F.cross_entropy(model(batch), words)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - began)
            began = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
