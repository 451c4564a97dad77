"""Forecasts the queues at ferry landings from the last two weeks of counts with a recurrent network."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 855
LANDINGS = 120
HOURS = 24 * 60
WINDOW = 336
HORIZON = 12
INPUTS = 6
HIDDEN = 48
BATCH_SIZE = 48
LEARNING_RATE = 2e-3
TRAIN_SECONDS = 11
REPORTED_STEPS = 15


def count_queues():
    """Hourly counts with the hour, the weekday and the weather for each of the landings."""
    rng = np.random.default_rng(SEED)
    hours = np.arange(HOURS)
    day = 2 * np.pi * hours / 24
    week = 2 * np.pi * hours / 168
    size = rng.uniform(0.5, 2.0, size=(LANDINGS, 1))
    shift = rng.uniform(0, 2, size=(LANDINGS, 1))
    rain = np.convolve(rng.normal(size=HOURS + 23), np.ones(24) / 5, mode="valid")
    queue = size * (1.5 + np.sin(day - shift) + 0.5 * np.sin(2 * day) + 0.6 * np.cos(week))
    queue = queue * (1 - 0.2 * np.tanh(rain)) + 0.15 * rng.normal(size=(LANDINGS, HOURS))
    shared = np.stack([np.sin(day), np.cos(day), np.sin(week), np.cos(week), rain])
    shared = np.broadcast_to(shared, (LANDINGS, *shared.shape))
    series = np.concatenate([queue[:, None], shared], axis=1).transpose(0, 2, 1)
    return torch.from_numpy(np.ascontiguousarray(series)).float()


def cut_windows(series):
    mean = series.mean(dim=(0, 1))
    spread = series.std(dim=(0, 1))
    series = (series - mean) / spread
    inputs, targets = [], []
    for start in range(0, HOURS - WINDOW - HORIZON, 24):
        end = start + WINDOW
        inputs.append(series[:, start:end])
        targets.append(series[:, end:end + HORIZON, 0])
    return torch.cat(inputs), torch.cat(targets)


class RecurrentLayer(nn.Module):
    """Runs a recurrent cell over the hours of a batch of windows."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.LSTMCell(inputs, hidden)

    def forward(self, x):
        state = x.new_zeros(x.size(0), self.hidden)
        memory = x.new_zeros(x.size(0), self.hidden)
        outputs = []
        for hour in range(x.size(1)):
            state, memory = self.cell(x[:, hour], (state, memory))
            outputs.append(state)
        return torch.stack(outputs, dim=1)


class QueueForecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = RecurrentLayer(INPUTS, HIDDEN)
        self.attention = nn.Linear(HIDDEN, 1)
        self.head = nn.Sequential(nn.Linear(2 * HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HORIZON))

    def forward(self, windows):
        states = self.recurrent(windows)
        weights = self.attention(states).softmax(dim=1)
        summary = (weights * states).sum(dim=1)
        return self.head(torch.cat([summary, states[:, -1]], dim=1))


@torch.no_grad()
def mean_error(model, inputs, targets):
    model.eval()
    error = (model(inputs) - targets).abs().mean().item()
    model.train()
    return error


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    inputs, targets = cut_windows(count_queues())
    held_out = LANDINGS
    dataset = TensorDataset(inputs[:-held_out], targets[:-held_out])
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, drop_last=True)

    model = QueueForecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times, losses = [], []
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        for windows, queues in loader:
            loss = F.smooth_l1_loss(model(windows), queues)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now > finish:
                break

    print(f"{len(losses)} steps, error {mean_error(model, inputs[-held_out:], targets[-held_out:]):.3f}")
    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
