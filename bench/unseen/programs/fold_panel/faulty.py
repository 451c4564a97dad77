"""Scores gene expression profiles with the models of five cross-validation folds."""
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 61
GENES = 1200
TYPES = 15
FOLDS = 5
TRAIN_PROFILES = 1000
TEST_PROFILES = 10000
WIDTH = 1000
TRAIN_STEPS = 8
BATCH_SIZE = 256
LEARNING_RATE = 1e-3


def make_profiles():
    """Log expression of genes; every tissue type raises a part of the genes a little."""
    rng = np.random.default_rng(SEED)
    raised = rng.normal(scale=0.25, size=(TYPES, GENES)).astype(np.float32)
    types = rng.integers(TYPES, size=TRAIN_PROFILES + TEST_PROFILES)
    profiles = rng.standard_normal((len(types), GENES), dtype=np.float32) * 2
    profiles += raised[types]
    return torch.from_numpy(profiles), torch.from_numpy(types)


class ExpressionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(GENES, WIDTH),
            nn.BatchNorm1d(WIDTH),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(WIDTH, WIDTH // 2),
            nn.BatchNorm1d(WIDTH // 2),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(WIDTH // 2, TYPES),
        )

    def forward(self, profiles):
        return self.layers(profiles)


def train_fold(fold, profiles, types, folder):
    """Train a model on all profiles but those of the fold and store it."""
    kept = torch.arange(len(profiles)) % FOLDS != fold
    profiles, types = profiles[kept], types[kept]
    model = ExpressionNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for step in range(TRAIN_STEPS):
        chosen = torch.randint(len(profiles), (BATCH_SIZE,))
        loss = F.cross_entropy(model(profiles[chosen]), types[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    path = folder / f"fold{fold}.pt"
    torch.save(model.state_dict(), path)
    return path


class FoldPanel:
    """Averages the probabilities of the models of all folds."""

    def __init__(self, paths):
        self.paths = paths
        self.model = ExpressionNet().eval()

    def predict(self, profiles):
        total = torch.zeros(len(profiles), TYPES)
        for path in self.paths:
            self.model.load_state_dict(torch.load(path))
            total += self.model(profiles).softmax(dim=1)
        return total / len(self.paths)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    profiles, types = make_profiles()
    with tempfile.TemporaryDirectory() as name:
        paths = [
            train_fold(fold, profiles[:TRAIN_PROFILES], types[:TRAIN_PROFILES], Path(name))
            for fold in range(FOLDS)
        ]
        panel = FoldPanel(paths)
        test = TensorDataset(profiles[TRAIN_PROFILES:], types[TRAIN_PROFILES:])
        step_times = []
        right = 0
        log_loss = 0.0
        began = time.perf_counter()
        with torch.no_grad():
            for batch, truth in DataLoader(test, batch_size=BATCH_SIZE):
                probabilities = panel.predict(batch)
                right += (probabilities.argmax(dim=1) == truth).sum().item()
                log_loss += F.nll_loss(probabilities.log(), truth, reduction="sum").item()
                now = time.perf_counter()
                step_times.append(now - began)
                began = now

    print(f"accuracy {right / len(test):.3f}")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={log_loss / len(test):.6f}")


if __name__ == "__main__":
    main()
