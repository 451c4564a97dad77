"""Predicts the power of solar plants from the weather, one batch per station in each step."""
import statistics
import time

import torch
from torch import nn

SEED = 3
STEPS = 80
STATIONS = 30
ROWS = 4000
TEST_ROWS = 500
FEATURES = 12
HIDDEN = 128
BATCH_SIZE = 128
DECAY = 0.999


class PowerModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, HIDDEN), nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
            nn.Linear(HIDDEN, 1))

    def forward(self, weather):
        return self.layers(weather).squeeze(-1)


def make_stations(generator):
    """Every station has its own weather and the same panels, a little dirty."""
    direction = torch.randn(FEATURES, generator=generator) / FEATURES ** 0.5
    curve = torch.randn(FEATURES, generator=generator) / FEATURES ** 0.5
    stations = []
    for _ in range(STATIONS):
        climate = 0.3 * torch.randn(FEATURES, generator=generator)
        weather = climate + torch.randn(ROWS, FEATURES, generator=generator)
        power = torch.relu(weather @ direction) + 0.5 * torch.sin(2 * weather @ curve)
        power = power + 0.1 * torch.randn(ROWS, generator=generator)
        stations.append((weather, power))
    return stations


def moving_average(loss_history):
    """Mean of the losses so far, the recent ones count more."""
    total, weights = 0.0, 0.0
    for age, loss in enumerate(reversed(loss_history)):
        weight = DECAY ** age
        total = total + weight * loss
        weights += weight
    return total / weights


def test_loss(model, stations, criterion):
    with torch.no_grad():
        losses = [criterion(model(weather[-TEST_ROWS:]), power[-TEST_ROWS:]).item()
                  for weather, power in stations]
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    stations = make_stations(generator)
    model = PowerModel()
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    loss_history = []
    best_average = float("inf")
    best_step = 0
    step_times = []
    for step in range(STEPS):
        started = time.perf_counter()
        first = step * BATCH_SIZE % (ROWS - TEST_ROWS - BATCH_SIZE)
        rows = slice(first, first + BATCH_SIZE)
        optimizer.zero_grad()
        for weather, power in stations:
            loss = criterion(model(weather[rows]), power[rows])
            (loss / STATIONS).backward()
            loss_history.append(loss.item())
        optimizer.step()

        average = moving_average(loss_history)
        if average < best_average:
            best_average, best_step = average, step
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={test_loss(model, stations, criterion):.6f}")


if __name__ == "__main__":
    main()
