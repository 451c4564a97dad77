"""Evaluates a coral classifier on a survey's photos and reports on every photo."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn

SEED = 75
PHOTOS = 2880
SIZE = 72
SITES = 12
BATCH_SIZE = 48
CHANNELS = 64
CORALS = ["staghorn", "brain", "table", "pillar", "fire", "mushroom", "sea fan", "none"]


def make_survey():
    rng = np.random.default_rng(SEED)
    corals = rng.integers(len(CORALS), size=PHOTOS)
    patterns = rng.integers(0, 140, size=(len(CORALS), SIZE, SIZE, 3))
    photos = rng.integers(0, 115, size=(PHOTOS, SIZE, SIZE, 3), dtype=np.uint8)
    photos += patterns.astype(np.uint8)[corals]
    survey = pd.DataFrame({
        "site": rng.integers(SITES, size=PHOTOS),
        "depth": rng.gamma(4, 3, size=PHOTOS).round(1),
        "coral": corals,
    })
    return torch.from_numpy(photos).permute(0, 3, 1, 2), survey


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return torch.relu(x + self.layers(x))


class CoralModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, CHANNELS, 4, stride=2, padding=1)
        self.first = Residual(CHANNELS)
        self.shrink = nn.Conv2d(CHANNELS, 2 * CHANNELS, 2, stride=2)
        self.second = nn.Sequential(Residual(2 * CHANNELS), Residual(2 * CHANNELS))
        self.head = nn.Linear(2 * CHANNELS, len(CORALS))

    def forward(self, photos):
        x = self.first(torch.relu(self.stem(photos)))
        x = self.second(torch.relu(self.shrink(x)))
        return self.head(x.mean(dim=(2, 3)))


class Report:
    def __init__(self):
        self.records = []

    def add(self, rows, chances):
        best, guesses = chances.max(dim=1)
        places = zip(rows.itertuples(), guesses.tolist(), best.tolist())
        for row, guess, chance in places:
            self.records.append([
                row.Index, row.site, row.depth, CORALS[row.coral], CORALS[guess],
                chance, guess == row.coral,
            ])

    def summary(self):
        table = pd.DataFrame(
            self.records,
            columns=["photo", "site", "depth", "coral", "guess", "chance", "right"],
        ).astype({"chance": float, "right": float})
        return table.groupby("site")[["chance", "right"]].mean()


@torch.inference_mode()
def predict(model, photos):
    x = photos.float().div(255).sub(0.5)
    return model(x).softmax(dim=1)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    photos, survey = make_survey()
    model = CoralModel().eval()
    report = Report()

    step_times = []
    last = time.perf_counter()
    for start in range(0, PHOTOS, BATCH_SIZE):
        chances = predict(model, photos[start:start + BATCH_SIZE])
        report.add(survey.iloc[start:start + BATCH_SIZE], chances)
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    summary = report.summary()
    print(summary.round(3).to_string())
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={summary['chance'].mean():.6f}")


if __name__ == "__main__":
    main()
