"""Predicts the power that heat pumps draw from what their sensors and the weather report."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

SEED = 103
RECORDS = 90000
SENSORS = 240
BATCH_SIZE = 1024
WIDTH = 256
EPOCHS = 36
LEARNING_RATE = 1e-3
TEST_SHARE = 0.1


def make_records():
    rng = np.random.default_rng(SEED)
    outside = rng.normal(6, 7, size=RECORDS).astype(np.float32)
    readings = rng.standard_normal((RECORDS, SENSORS), dtype=np.float32)
    readings[:, ::4] += 0.05 * outside[:, None]
    sensors = pd.DataFrame(readings, columns=[f"sensor_{number}" for number in range(SENSORS)])
    weather = pd.DataFrame({
        "outside": outside,
        "hour": rng.integers(24, size=RECORDS).astype(np.float32),
        "area": rng.gamma(6, 25, size=RECORDS).astype(np.float32),
    })
    demand = weather["area"] * (21 - weather["outside"]).clip(lower=0) / 900
    night = 1 - 0.3 * (weather["hour"] < 6)
    wear = 1 + 0.1 * np.tanh(sensors["sensor_3"] + sensors["sensor_8"] * sensors["sensor_11"])
    weather["power"] = demand * night * wear + rng.normal(scale=0.1, size=RECORDS)
    return pd.concat([sensors, weather], axis=1)


def prepare(records):
    power = records["power"]
    angle = records["hour"] * (2 * np.pi / 24)
    cycle = pd.DataFrame({"hour_sin": np.sin(angle), "hour_cos": np.cos(angle)})
    records = pd.concat([records.drop(columns=["hour", "power"]), cycle], axis=1)
    records = (records - records.mean()) / records.std()
    power = (power - power.mean()) / power.std()
    features = torch.tensor(records.to_numpy(dtype=np.float32))
    return features, torch.tensor(power.to_numpy(dtype=np.float32))


class PowerModel(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, 1),
        )

    def forward(self, features):
        return self.layers(features).squeeze(1)


class Trainer:
    def __init__(self, features, power):
        order = torch.randperm(len(features))
        held_out = int(TEST_SHARE * len(features))
        self.features, self.power = features, power
        self.test_rows, self.train_rows = order[:held_out], order[held_out:]
        self.model = PowerModel(features.shape[1])
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=LEARNING_RATE, fused=True)

    def batches(self):
        shuffled = self.train_rows[torch.randperm(len(self.train_rows))]
        return shuffled.split(BATCH_SIZE)

    def step(self, rows):
        predicted = self.model(self.features[rows])
        loss = F.mse_loss(predicted, self.power[rows])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.inference_mode()
    def test_error(self):
        errors = []
        for rows in self.test_rows.split(BATCH_SIZE):
            predicted = self.model(self.features[rows])
            errors.append((predicted - self.power[rows]).abs())
        return torch.cat(errors).mean().item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    features, power = prepare(make_records())
    trainer = Trainer(features, power)

    step_times, losses = [], []
    for epoch in range(EPOCHS):
        last = time.perf_counter()
        for rows in trainer.batches():
            losses.append(trainer.step(rows))
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
    error = trainer.test_error()

    print(f"mean loss of the last steps {statistics.mean(losses[-50:]):.5f}")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.3f}")
    print(f"result={error:.4f}")


if __name__ == "__main__":
    main()
