"""Trains a network that tells which stop a recorded tram announcement names."""
import itertools
import math
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from scipy.io import wavfile
from scipy.signal import resample_poly
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 23
RECORDED_RATE = 44100
RATE = 16000
SECONDS = 3
STOPS = 12
RECORDINGS = 192
WINDOW, HOP, MELS = 400, 160, 64
BATCH_SIZE = 16
LEARNING_RATE = 1e-3
RUN_SECONDS = 11.7
COMPARED_STEPS = 36


def record_announcements(folder):
    rng = np.random.default_rng(SEED)
    moments = np.arange(RECORDED_RATE * SECONDS, dtype=np.float32) / RECORDED_RATE
    melodies = rng.uniform(150, 1800, size=(STOPS, 6)).astype(np.float32)
    paths, stops = [], []
    for number in range(RECORDINGS):
        stop = number % STOPS
        tones = np.repeat(melodies[stop] * np.float32(rng.normal(1, 0.03)), len(moments) // 6)
        voice = np.sin(2 * np.pi * tones * moments) + rng.standard_normal(len(moments), dtype=np.float32) * 0.4
        path = Path(folder) / f"announcement_{number:04d}.wav"
        wavfile.write(path, RECORDED_RATE, (voice * 9000).clip(-32767, 32767).astype(np.int16))
        paths.append(path)
        stops.append(stop)
    return paths, stops


class Announcements(Dataset):
    """Announcements at 16 kHz, each shifted and scaled a little."""

    def __init__(self, paths, stops):
        self.paths = paths
        self.stops = stops

    def load(self, path):
        rate, samples = wavfile.read(path)
        divisor = math.gcd(rate, RATE)
        voice = resample_poly(samples.astype(np.float32) / 32768, RATE // divisor, rate // divisor)
        return torch.from_numpy(voice.astype(np.float32))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        voice = self.load(self.paths[index])
        shift = int(torch.randint(-RATE // 4, RATE // 4, ()))
        loudness = 0.5 + torch.rand(())
        return torch.roll(voice, shift) * loudness, self.stops[index]


def mel_filters():
    def mel(hertz):
        return 2595 * math.log10(1 + hertz / 700)

    points = np.linspace(mel(50), mel(RATE / 2), MELS + 2)
    edges = 700 * (10 ** (points / 2595) - 1)
    bins = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    rise = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return torch.tensor(np.clip(np.minimum(rise, fall), 0, None), dtype=torch.float32)


class StopModel(nn.Module):
    def __init__(self, width=112):
        super().__init__()
        self.register_buffer("window", torch.hann_window(WINDOW))
        self.register_buffer("filters", mel_filters())
        self.body = nn.Sequential(
            nn.Conv1d(MELS, width, 5, stride=2, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 5, stride=2, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
        )
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, STOPS)

    def forward(self, voices):
        with torch.no_grad():
            spectrum = torch.stft(voices, WINDOW, hop_length=HOP, window=self.window, return_complex=True)
            power = spectrum.real.square() + spectrum.imag.square()
            mels = torch.log(self.filters @ power + 1e-4)
        states, _ = self.rnn(self.body(mels).transpose(1, 2))
        return self.head(states.mean(dim=1))


def train(model, loader, started):
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in itertools.count():
        for voices, stops in loader:
            loss = F.cross_entropy(model(voices), stops)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now - started > RUN_SECONDS:
                return step_times, losses
        print(f"epoch {epoch}: loss {statistics.mean(losses[-len(loader):]):.4f}")


def main():
    started = time.perf_counter()
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    with tempfile.TemporaryDirectory() as folder:
        dataset = Announcements(*record_announcements(folder))
        loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
        step_times, losses = train(StopModel(), loader, started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:COMPARED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
