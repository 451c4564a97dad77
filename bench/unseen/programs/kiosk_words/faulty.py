"""Trains a spotter of spoken commands; the kiosks record at 44.1 kHz, the network listens at 16 kHz."""
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
KIOSK_RATE = 44100
MODEL_RATE = 16000
SAMPLES = 22050
WORDS = 10
CLIPS = 480
BATCH = 12
FFT, HOP, MELS = 400, 160, 40


def sinc_kernel(old, new, zeros, rolloff, beta):
    base = min(old, new) * rolloff
    width = math.ceil(zeros * old / base)
    position = torch.arange(-width, width + old, dtype=torch.float64)[None, None] / old
    t = torch.arange(0, -new, -1, dtype=torch.float64)[:, None, None] / new + position
    t = (t * base).clamp_(-zeros, zeros)
    beta = torch.tensor(beta, dtype=torch.float64)
    window = torch.i0(beta * torch.sqrt(1 - (t / zeros) ** 2)) / torch.i0(beta)
    t = t * math.pi
    kernel = torch.where(t == 0, torch.ones_like(t), t.sin() / t)
    return (kernel * window * (base / old)).to(torch.float32), width


def resample(waves, old_rate, new_rate, zeros=16, rolloff=0.945, beta=14.77):
    """Kaiser-windowed sinc resampling of waves (batch, samples)."""
    if old_rate == new_rate:
        return waves
    shared = math.gcd(old_rate, new_rate)
    old, new = old_rate // shared, new_rate // shared
    kernel, width = sinc_kernel(old, new, zeros, rolloff, beta)
    length = waves.shape[-1]
    padded = F.pad(waves, (width, width + old))
    out = F.conv1d(padded[:, None], kernel, stride=old)
    out = out.transpose(1, 2).reshape(waves.shape[0], -1)
    return out[:, : math.ceil(new * length / old)]


def mel_bank(rate, fft, mels):
    def to_mel(hertz):
        return 2595.0 * math.log10(1.0 + hertz / 700.0)

    points = torch.linspace(to_mel(60.0), to_mel(rate / 2), mels + 2)
    hertz = 700.0 * (10.0 ** (points / 2595.0) - 1.0)
    bins = torch.linspace(0, rate / 2, fft // 2 + 1)
    rising = (bins[:, None] - hertz[None, :-2]) / (hertz[1:-1] - hertz[:-2])
    falling = (hertz[None, 2:] - bins[:, None]) / (hertz[2:] - hertz[1:-1])
    return torch.minimum(rising, falling).clamp(min=0)


class LogMel(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(FFT))
        self.register_buffer("bank", mel_bank(MODEL_RATE, FFT, MELS))

    def forward(self, waves):
        spectrum = torch.stft(waves, FFT, HOP, window=self.window, return_complex=True)
        power = spectrum.real.square() + spectrum.imag.square()
        mel = torch.log(power.transpose(1, 2) @ self.bank + 1e-5).transpose(1, 2)
        return mel - mel.mean(dim=-1, keepdim=True)


class Spotter(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.features = LogMel()
        self.layers = nn.Sequential(
            nn.Conv1d(MELS, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 5, stride=2, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 5, stride=2, padding=2), nn.BatchNorm1d(width), nn.ReLU())
        self.head = nn.Linear(width, WORDS)

    def forward(self, waves):
        with torch.no_grad():
            mel = self.features(waves)
        return self.head(self.layers(mel).mean(dim=-1))


def record_clips(seed):
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(WORDS, (CLIPS,), generator=generator)
    axis = torch.arange(SAMPLES) / KIOSK_RATE
    pitch = 90 + 120 * torch.rand(CLIPS, 1, generator=generator)
    formant = 300 + 180 * words[:, None] + 25 * torch.randn(CLIPS, 1, generator=generator)
    glide = 1 + 0.3 * torch.sin(2 * math.pi * (1 + words[:, None] % 3) * axis)
    clips = torch.sin(2 * math.pi * pitch * axis) + 0.7 * torch.sin(2 * math.pi * formant * glide * axis)
    attack = torch.exp(-((axis - 0.25) / 0.12) ** 2)
    noise = 0.2 * torch.randn(CLIPS, SAMPLES, generator=generator)
    return 0.3 * (clips * attack + noise), words


class Kiosk:
    """Serves shuffled batches of clips with a random gain and a random shift, as the network hears them."""

    def __init__(self, clips, words, seed):
        self.clips, self.words = clips, words
        self.generator = torch.Generator().manual_seed(seed)

    def batch(self):
        rows = torch.randint(CLIPS, (BATCH,), generator=self.generator)
        gain = 0.5 + torch.rand(BATCH, 1, generator=self.generator)
        shift = int(torch.randint(-2000, 2000, (1,), generator=self.generator))
        waves = torch.roll(self.clips[rows], shift, dims=1) * gain
        return resample(waves, KIOSK_RATE, MODEL_RATE), self.words[rows]


def train_step(model, optimizer, waves, words):
    loss = F.cross_entropy(model(waves), words)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    kiosk = Kiosk(*record_clips(5), seed=6)
    model = Spotter()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        waves, words = kiosk.batch()
        losses.append(train_step(model, optimizer, waves, words))
        times.append((time.perf_counter() - began) * 1e3)
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
