"""Predict the energy use of a machine from a table of its readings."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = 21
NUM_FEATURES = 40
FEATURES = [f"reading_{number:02d}" for number in range(NUM_FEATURES)]
TARGET = "energy_kwh"
BATCH_SIZE = 512
NUM_ROWS = 20 * BATCH_SIZE
EPOCHS = 3
HIDDEN = 640
LEARNING_RATE = 1e-3


def make_table():
    """One row per hour: the readings and the energy used."""
    rng = np.random.default_rng(SEED)
    offset = rng.uniform(-20.0, 80.0, size=NUM_FEATURES)
    spread = rng.uniform(0.5, 12.0, size=NUM_FEATURES)
    signal = rng.normal(size=(NUM_ROWS, NUM_FEATURES))
    weight = rng.normal(size=NUM_FEATURES) / np.sqrt(NUM_FEATURES)
    energy = 5.0 + signal @ weight + 0.5 * np.abs(signal[:, 0] * signal[:, 1])
    energy += rng.normal(scale=0.1, size=NUM_ROWS)
    readings = (offset + spread * signal).astype(np.float32)
    table = pd.DataFrame(readings, columns=FEATURES)
    table[TARGET] = energy.astype(np.float32)
    return table


def prepare(table):
    """Scale the readings, leave the target as it is."""
    features = table[FEATURES]
    features = (features - features.mean()) / features.std()
    return features.astype("float32"), table[TARGET].astype("float32")


class ReadingsDataset(Dataset):
    def __init__(self, features, target):
        self.features = features
        self.target = target

    def __len__(self):
        return len(self.features)

    def __getitem__(self, index):
        row = self.features.iloc[index]
        energy = self.target.iloc[index]
        return torch.tensor(row.to_numpy()), torch.tensor(energy, dtype=torch.float32)


class EnergyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(NUM_FEATURES, HIDDEN),
            nn.BatchNorm1d(HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.BatchNorm1d(HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.BatchNorm1d(HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, 1),
        )

    def forward(self, readings):
        return self.layers(readings).squeeze(1)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    features, target = prepare(make_table())
    dataset = ReadingsDataset(features, target)
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    model = EnergyModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    criterion = nn.MSELoss()

    model.train()
    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for readings, energy in loader:
            optimizer.zero_grad()
            loss = criterion(model(readings), energy)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
