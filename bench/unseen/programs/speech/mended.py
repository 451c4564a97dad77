"""Classify short spoken-like sounds from their log-mel spectrograms."""

import statistics
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SAMPLE_RATE = 16000
CLIP_SAMPLES = 16000
N_FFT = 512
HOP = 160
N_MELS = 128
CLASSES = 8
CLIPS = 640
BATCH = 32
EPOCHS = 3

WINDOW = torch.hann_window(N_FFT)


class Sounds(Dataset):
    """Noisy gliding tones of different lengths; the class sets the pitch."""

    def __init__(self):
        generator = np.random.default_rng(3)
        self.clips = []
        for index in range(CLIPS):
            label = index % CLASSES
            samples = int(generator.integers(12000, CLIP_SAMPLES + 1))
            seconds = np.arange(samples) / SAMPLE_RATE
            pitch = 200.0 * 1.3**label * generator.uniform(0.95, 1.05)
            phase = 2 * np.pi * pitch * (seconds + 0.2 * seconds**2)
            wave = np.sin(phase) + 0.5 * np.sin(2 * phase)
            wave += 0.5 * generator.standard_normal(samples)
            self.clips.append((torch.from_numpy(wave.astype(np.float32)), label))

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        return self.clips[index]


def mel_filter_bank():
    """Triangular filters, N_MELS x (N_FFT // 2 + 1)."""
    highest = 2595.0 * np.log10(1.0 + SAMPLE_RATE / 2 / 700.0)
    mels = np.linspace(0.0, highest, N_MELS + 2)
    edges = 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    frequencies = np.linspace(0.0, SAMPLE_RATE / 2, N_FFT // 2 + 1)
    bank = np.zeros((N_MELS, len(frequencies)), dtype=np.float32)
    for m in range(N_MELS):
        left, centre, right = edges[m : m + 3]
        rising = (frequencies - left) / (centre - left)
        falling = (right - frequencies) / (right - centre)
        bank[m] = np.maximum(0.0, np.minimum(rising, falling))
    return torch.from_numpy(bank)


MEL_BANK = mel_filter_bank()


def log_mel(waveform):
    padded = F.pad(waveform, (0, CLIP_SAMPLES - len(waveform)))
    spectrum = torch.stft(
        padded, N_FFT, hop_length=HOP, window=WINDOW, return_complex=True
    )
    power = spectrum.abs().square()
    features = torch.log(MEL_BANK @ power + 1e-5)
    return (features - features.mean()) / (features.std() + 1e-5)


def collate(samples):
    features = torch.stack([log_mel(waveform) for waveform, _ in samples])
    labels = torch.tensor([label for _, label in samples])
    return features.unsqueeze(1), labels


def conv_block(channels_in, channels_out):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(inplace=True),
    )


def make_model():
    return nn.Sequential(
        conv_block(1, 16),
        conv_block(16, 24),
        conv_block(24, 48),
        nn.AdaptiveAvgPool2d((4, 1)),
        nn.Flatten(),
        nn.Linear(48 * 4, CLASSES),
    )


def main():
    torch.manual_seed(8)
    loader = DataLoader(
        Sounds(), batch_size=BATCH, shuffle=True, collate_fn=collate, drop_last=True
    )
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    times = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for features, labels in loader:
            loss = F.cross_entropy(model(features), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            final_loss = loss.item()

            now = time.perf_counter()
            times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(times[5:]) * 1000:.2f}")
    print(f"result={final_loss:.6f}")


if __name__ == "__main__":
    main()
