"""Separates the recording of a small choir into its four voices with a mask on the STFT."""
import itertools
import statistics
import time

import numpy as np
import torch
from torch import nn

SEED = 101
VOICES = 4
RATE = 8000
SAMPLES = 12288
FFT = 256
HOP = 128
WIDTH = 128
RECORDINGS = 240
BATCH_SIZE = 8
STEPS = 80
LEARNING_RATE = 1e-3


def make_voices():
    """Sung tones with overtones, vibrato and pauses; each voice of a recording has its own range."""
    rng = np.random.default_rng(SEED)
    moment = np.arange(SAMPLES) / RATE
    voices = np.empty((RECORDINGS, VOICES, SAMPLES), dtype=np.float32)
    for recording in voices:
        for number, voice in enumerate(rng.permutation(VOICES)):
            pitch = 110 * 2 ** (0.6 * voice + rng.uniform(0, 0.5))
            vibrato = 1 + 0.01 * np.sin(2 * np.pi * rng.uniform(4, 7) * moment)
            phase = 2 * np.pi * np.cumsum(pitch * vibrato) / RATE
            tone = sum(np.sin(k * phase + rng.uniform(0, 6)) / k for k in range(1, 6))
            loudness = np.repeat(rng.uniform(0.1, 1, size=6), SAMPLES // 6)
            recording[number] = 0.2 * loudness * tone
    return torch.from_numpy(voices)


class VoiceSeparator(nn.Module):
    """A recurrent network that gives every voice a mask on the spectrogram of the mixture."""

    def __init__(self):
        super().__init__()
        bands = FFT // 2 + 1
        self.register_buffer("window", torch.hann_window(FFT))
        self.norm = nn.LayerNorm(bands)
        self.memory = nn.GRU(bands, WIDTH, batch_first=True, bidirectional=True)
        self.masks = nn.Linear(2 * WIDTH, VOICES * bands)

    def forward(self, mixture):
        spectrum = torch.stft(mixture, FFT, HOP, window=self.window, return_complex=True)
        loudness = torch.log1p(10 * spectrum.abs()).transpose(1, 2)
        hidden, _ = self.memory(self.norm(loudness))
        masks = self.masks(hidden).unflatten(2, (VOICES, -1)).permute(0, 2, 3, 1).sigmoid()
        voices = (masks * spectrum.unsqueeze(1)).flatten(0, 1)
        sound = torch.istft(voices, FFT, HOP, window=self.window, length=mixture.shape[1])
        return sound.unflatten(0, (-1, VOICES))


def si_sdr(estimate, target):
    """Ratio of signal to distortion in decibels, whatever the loudness of the estimate."""
    estimate = estimate - estimate.mean(dim=-1, keepdim=True)
    target = target - target.mean(dim=-1, keepdim=True)
    scale = (estimate * target).sum(dim=-1, keepdim=True) / target.square().sum(dim=-1, keepdim=True)
    signal = scale * target
    distortion = estimate - signal
    return 10 * torch.log10(signal.square().sum(dim=-1) / (distortion.square().sum(dim=-1) + 1e-8))


class SeparationLoss(nn.Module):
    """The order of the voices is unknown, so the best assignment to the targets counts."""

    def __init__(self):
        super().__init__()
        self.permutations = list(itertools.permutations(range(VOICES)))

    def forward(self, estimates, targets):
        pairs = si_sdr(estimates.unsqueeze(2), targets.unsqueeze(1))
        ratios = []
        for permutation in self.permutations:
            ratios.append(pairs[:, permutation, range(VOICES)].mean(dim=1))
        return -torch.stack(ratios, dim=1).max(dim=1).values.mean()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    voices = make_voices()
    model = VoiceSeparator()
    criterion = SeparationLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    for step in range(STEPS):
        start = time.perf_counter()
        targets = voices[torch.randint(RECORDINGS, (BATCH_SIZE,))]
        estimates = model(targets.sum(dim=1))
        loss = criterion(estimates, targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - start)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
