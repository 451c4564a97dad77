"""Trains a network that tells the calls of frogs apart in noisy recordings of a pond."""
import math
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 101
RATE = 16000
CLIP = RATE
CLIPS = 960
FROGS = 10
WINDOW = 1024
HOP = 160
MELS = 48
BATCH_SIZE = 32
EPOCHS = 6
LEARNING_RATE = 2e-3


def make_clips():
    rng = np.random.default_rng(SEED)
    moments = np.arange(CLIP, dtype=np.float32) / RATE
    frogs = rng.integers(FROGS, size=CLIPS)
    pitch = (500 + 260 * frogs) * rng.normal(1, 0.03, size=CLIPS)
    pulses = 6 + 3 * (frogs % 4) + rng.normal(0, 0.5, size=CLIPS)
    clips = np.empty((CLIPS, CLIP), dtype=np.float32)
    for clip, tone, pulse in zip(clips, pitch, pulses):
        envelope = np.clip(np.sin(2 * np.pi * np.float32(pulse) * moments + np.float32(rng.uniform(0, 6))), 0, 1)
        clip[:] = envelope * np.sin(2 * np.pi * np.float32(tone) * moments)
    return torch.from_numpy(clips), torch.from_numpy(frogs)


def mel_filters():
    def mel(hertz):
        return 2595 * math.log10(1 + hertz / 700)

    points = np.linspace(mel(60), mel(RATE / 2), MELS + 2)
    edges = 700 * (10 ** (points / 2595) - 1)
    bins = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    rise = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return torch.tensor(np.clip(np.minimum(rise, fall), 0, None), dtype=torch.float32)


class Spectrogram(nn.Module):
    """Power spectrogram of a batch of clips: (clips, samples) to (clips, bins, frames)."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(WINDOW))

    def forward(self, clips):
        spectrum = torch.stft(clips, WINDOW, hop_length=HOP, window=self.window, return_complex=True)
        return spectrum.real.square() + spectrum.imag.square()


class FrogModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.spectrogram = Spectrogram()
        self.register_buffer("filters", mel_filters())

        def block(inputs, outputs):
            return nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
                nn.BatchNorm2d(outputs), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            )

        self.body = nn.Sequential(block(1, 16), block(16, 32), block(32, 64), block(64, 96))
        self.head = nn.Linear(96, FROGS)

    def forward(self, clips):
        with torch.no_grad():
            mels = torch.log1p(100 * torch.matmul(self.filters, self.spectrogram(clips)))
        return self.head(self.body(mels.unsqueeze(1)).mean(dim=(2, 3)))


class Pond:
    """Mixes each clip with another one and with a random loudness, another mix in every epoch."""

    def __init__(self, clips, frogs, generator):
        self.clips = clips
        self.frogs = frogs
        self.generator = generator

    def batches(self):
        order = torch.randperm(CLIPS, generator=self.generator)
        for rows in order.split(BATCH_SIZE):
            others = torch.randint(CLIPS, (len(rows),), generator=self.generator)
            loudness = torch.rand(len(rows), 2, 1, generator=self.generator) * torch.tensor([[1.0], [0.3]])
            mixed = self.clips[rows] * (0.3 + loudness[:, 0]) + self.clips[others] * loudness[:, 1]
            yield mixed, self.frogs[rows]


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    clips, frogs = make_clips()
    pond = Pond(clips, frogs, torch.Generator().manual_seed(SEED))
    model = FrogModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for mixed, names in pond.batches():
            loss = F.cross_entropy(model(mixed), names)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
        print(f"epoch {epoch}: loss {statistics.mean(losses[-CLIPS // BATCH_SIZE:]):.4f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses):.4f}")


if __name__ == "__main__":
    main()
