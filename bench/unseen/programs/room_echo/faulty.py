"""Learns the response of a room (early reflections and tail) from pairs of dry and recorded speech."""
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
RATE = 16_000
SEGMENT = RATE
ROOM_SECONDS = 0.3
BATCH = 12


def make_speech(count, generator):
    """Voiced syllables: a gliding pitch with overtones, switched on and off, over a little noise."""
    t = torch.arange(SEGMENT) / RATE
    pitch = 90 + 120 * torch.rand(count, 1, generator=generator)
    glide = 1 + 0.1 * torch.sin(2 * math.pi * (1 + 2 * torch.rand(count, 1, generator=generator)) * t)
    phase = torch.cumsum(2 * math.pi * pitch * glide / RATE, dim=1)
    voice = sum(torch.sin(k * phase) / k for k in range(1, 9))
    syllables = (torch.sin(2 * math.pi * 3.5 * t + 6 * torch.rand(count, 1, generator=generator)) > 0).float()
    noise = torch.randn(count, SEGMENT, generator=generator)
    return 0.2 * voice * syllables + 0.01 * noise


def make_room(generator):
    length = int(ROOM_SECONDS * RATE)
    t = torch.arange(length) / RATE
    response = 0.05 * torch.randn(length, generator=generator) * torch.exp(-t / 0.06)
    for delay_ms, gain in ((0, 1.0), (7, 0.5), (13, -0.35), (21, 0.25)):
        response[int(delay_ms * RATE / 1000)] += gain
    return response


def fft_convolve(signal, kernel):
    """Linear convolution along the last dimension, cut to the length of the signal."""
    n = signal.shape[-1] + kernel.shape[-1] - 1
    spectrum = torch.fft.rfft(signal, n=n) * torch.fft.rfft(kernel, n=n)
    return torch.fft.irfft(spectrum, n=n)[..., : signal.shape[-1]]


class RoomModel(nn.Module):
    """Soft saturation of the loudspeaker, then the response of the room."""

    def __init__(self):
        super().__init__()
        length = int(ROOM_SECONDS * RATE)
        self.response = nn.Parameter(0.01 * torch.randn(length))
        with torch.no_grad():
            self.response[0] = 1.0
        self.register_buffer("decay", torch.exp(-torch.arange(length) / RATE / 0.1))
        self.drive = nn.Parameter(torch.tensor(0.5))
        self.gain = nn.Parameter(torch.tensor(1.5))

    def forward(self, dry):
        x = self.gain * torch.tanh(self.drive * dry)
        return fft_convolve(x, self.response * self.decay)


class SpectralLoss(nn.Module):
    def __init__(self, size=512):
        super().__init__()
        self.size = size
        self.register_buffer("window", torch.hann_window(size))

    def magnitude(self, x):
        spec = torch.stft(x, self.size, hop_length=self.size // 2, window=self.window, return_complex=True)
        return spec.abs()

    def forward(self, predicted, target):
        spectral = F.l1_loss(self.magnitude(predicted), self.magnitude(target))
        return F.l1_loss(predicted, target) + spectral


def train_step(model, criterion, optimizer, dry, wet):
    loss = criterion(model(dry), wet)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(31)
    generator = torch.Generator().manual_seed(32)
    dry = make_speech(96, generator)
    wet = fft_convolve(dry, make_room(generator)) + 0.002 * torch.randn(dry.shape, generator=generator)
    model, criterion = RoomModel(), SpectralLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    losses, times = [], []
    begin = time.perf_counter()
    while time.perf_counter() - begin < TRAIN_SECONDS:
        start = time.perf_counter()
        rows = torch.randint(0, len(dry), (BATCH,), generator=generator)
        losses.append(train_step(model, criterion, optimizer, dry[rows], wet[rows]))
        times.append((time.perf_counter() - start) * 1e3)

    print(f"steps={len(losses)} last_loss={losses[-1]:.4f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
