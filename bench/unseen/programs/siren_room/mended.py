"""Tells the sirens of police, ambulance, fire brigade and car alarms apart."""
import math
import statistics
import time

import scipy.fft
import torch
from torch import nn
from torch.nn import functional as F

SEED = 31
RATE = 16000
CLIPS = 1280
CLIP_SAMPLES = RATE
ROOM_SAMPLES = RATE // 4
ROOMS = 24
BATCH_SIZE = 64
EPOCHS = 7


def make_clips():
    generator = torch.Generator().manual_seed(SEED)
    kinds = torch.randint(0, 4, (CLIPS,), generator=generator)
    time_axis = torch.arange(CLIP_SAMPLES) / RATE
    clips = torch.empty(CLIPS, CLIP_SAMPLES)
    for row, kind in enumerate(kinds.tolist()):
        base, beat, depth = 500 + 500 * torch.rand(3, generator=generator)
        beat = (0.5, 1.0, 3.0, 6.0)[kind] * (0.8 + 0.0008 * (beat - 500))
        depth = 0.3 * depth
        swing = torch.sin(2 * math.pi * beat * time_axis)
        if kind % 2:
            swing = swing.sign()
        phase = 2 * math.pi * torch.cumsum(base + depth * swing, dim=0) / RATE
        clips[row] = torch.sin(phase)
    return clips + 0.3 * torch.randn(clips.shape, generator=generator), kinds


def make_rooms():
    fade = torch.exp(-torch.arange(ROOM_SAMPLES) / (0.04 * RATE))
    rooms = 0.1 * torch.randn(ROOMS, ROOM_SAMPLES) * fade
    rooms[:, 0] = 1
    return rooms


class Reverb:
    def __init__(self, rooms):
        self.rooms = rooms
        self.length = scipy.fft.next_fast_len(CLIP_SAMPLES + ROOM_SAMPLES - 1, real=True)

    def __call__(self, clips):
        chosen = self.rooms[torch.randint(0, len(self.rooms), (len(clips),))]
        spectrum = torch.fft.rfft(clips, n=self.length) * torch.fft.rfft(chosen, n=self.length)
        return torch.fft.irfft(spectrum, n=self.length)[:, :CLIP_SAMPLES]


class Spectrogram(nn.Module):
    def __init__(self, window=512, hop=256):
        super().__init__()
        self.size = window
        self.hop = hop
        self.register_buffer("window", torch.hann_window(window))

    def forward(self, clips):
        frames = torch.stft(clips, self.size, self.hop, window=self.window, return_complex=True)
        return torch.log(frames.abs() + 1e-3)


class SirenNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.spectrogram = Spectrogram()
        self.layers = nn.Sequential(
            nn.Conv1d(257, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
        )
        self.classifier = nn.Linear(2 * width, 4)

    def forward(self, clips):
        x = self.layers(self.spectrogram(clips))
        return self.classifier(torch.cat([x.mean(dim=2), x.amax(dim=2)], dim=1))


def main():
    torch.manual_seed(SEED)
    clips, kinds = make_clips()
    reverb = Reverb(make_rooms())
    model = SirenNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        right = 0
        for rows in torch.randperm(CLIPS).split(BATCH_SIZE):
            logits = model(reverb(clips[rows]))
            loss = F.cross_entropy(logits, kinds[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            right += (logits.argmax(dim=1) == kinds[rows]).sum().item()
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
        print(f"epoch {epoch}: loss {losses[-1]:.4f}, accuracy {right / CLIPS:.3f}")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-20:]):.6f}")


if __name__ == "__main__":
    main()
