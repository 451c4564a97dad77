"""Recognises spoken digits in short recordings."""
import math
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 41
CLIPS = 448
DIGITS = 10
MELS = 32
FRAMES_PER_SECOND = 100
MAX_SECONDS = 4
WIDTH = 96
HEADS = 4
LAYERS = 2
BATCH_SIZE = 16
EPOCHS = 2
LEARNING_RATE = 5e-4


def make_clips():
    """Features of clips of 0.4 to 2 seconds; most digits are said quickly, a few clips last long."""
    rng = np.random.default_rng(SEED)
    formants = rng.uniform(2, MELS - 2, size=(DIGITS, 3))
    bands = np.arange(MELS)
    clips = []
    for number in range(CLIPS):
        digit = number % DIGITS
        seconds = min(0.4 + rng.gamma(2.0, 0.12), 2.0)
        frames = int(seconds * FRAMES_PER_SECOND)
        progress = np.linspace(0, 1, frames)[:, None]
        features = rng.normal(scale=0.6, size=(frames, MELS))
        for formant in formants[digit]:
            centre = formant + 2 * np.sin(3 * progress + rng.normal())
            features += 2 * np.exp(-((bands - centre) ** 2) / 3)
        clips.append((torch.from_numpy(features.astype(np.float32)), digit))
    return clips


class ClipDataset(Dataset):
    def __init__(self, clips):
        self.clips = clips

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        return self.clips[index]


def collate(samples):
    length = max(len(clip) for clip, _ in samples)
    features = torch.zeros(len(samples), length, MELS)
    real = torch.zeros(len(samples), length, dtype=torch.bool)
    for row, (clip, _) in enumerate(samples):
        features[row, :len(clip)] = clip
        real[row, :len(clip)] = True
    return features, real, torch.tensor([digit for _, digit in samples])


def position_table(length):
    angles = torch.arange(length).unsqueeze(1) * torch.exp(-math.log(1e4) * torch.arange(0, WIDTH, 2) / WIDTH)
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(MELS, WIDTH)
        self.register_buffer("positions", position_table(MAX_SECONDS * FRAMES_PER_SECOND))
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, dim_feedforward=2 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, DIGITS)

    def forward(self, features, real):
        x = self.enter(features) + self.positions[:features.shape[1]]
        x = self.encoder(x, src_key_padding_mask=~real) * real.unsqueeze(2)
        return self.head(x.sum(dim=1) / real.sum(dim=1, keepdim=True))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    loader = DataLoader(ClipDataset(make_clips()), batch_size=BATCH_SIZE, shuffle=True, collate_fn=collate)
    model = DigitNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    for epoch in range(EPOCHS):
        started = time.perf_counter()
        for features, real, digits in loader:
            loss = F.cross_entropy(model(features, real), digits)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - started)
            started = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
