"""Recognises activities from windows of motion sensor features."""
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

SEED = 21
CHUNKS = 60
LOG_EVERY = 5
EVALUATE_EVERY = 5
BATCH_SIZE = 256
EVAL_BATCH_SIZE = 500
FEATURES = 64
HIDDEN = 384
ACTIVITIES = 10
TRAIN_ROWS = 20000
VAL_ROWS = 4000


def make_data(generator):
    """Sensor features whose label comes from a random two-layer rule, with some noise."""
    rows = TRAIN_ROWS + VAL_ROWS
    features = torch.randn(rows, FEATURES, generator=generator)
    first = torch.randn(FEATURES, 32, generator=generator) / FEATURES ** 0.5
    second = torch.randn(32, ACTIVITIES, generator=generator)
    scores = torch.tanh(2 * features @ first) @ second
    scores = scores + 0.5 * torch.randn(rows, ACTIVITIES, generator=generator)
    labels = scores.argmax(dim=1)
    train = features[:TRAIN_ROWS], labels[:TRAIN_ROWS]
    val = features[TRAIN_ROWS:], labels[TRAIN_ROWS:]
    return train, val


def make_model():
    return nn.Sequential(
        nn.Linear(FEATURES, HIDDEN), nn.BatchNorm1d(HIDDEN), nn.ReLU(),
        nn.Linear(HIDDEN, HIDDEN), nn.BatchNorm1d(HIDDEN), nn.ReLU(),
        nn.Linear(HIDDEN, ACTIVITIES))


def evaluate(model, features, labels):
    """Mean loss and accuracy over the given rows."""
    model.eval()
    total_loss, correct = 0.0, 0
    for start in range(0, len(features), EVAL_BATCH_SIZE):
        targets = labels[start:start + EVAL_BATCH_SIZE]
        logits = model(features[start:start + EVAL_BATCH_SIZE])
        total_loss += F.cross_entropy(logits, targets, reduction="sum").item()
        correct += (logits.argmax(dim=1) == targets).sum().item()
    model.train()
    return total_loss / len(features), correct / len(features)


def main():
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    (train_features, train_labels), (val_features, val_labels) = make_data(generator)
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    training_log = []
    step_times = []
    step = 0
    val_loss, val_accuracy = float("nan"), float("nan")
    for chunk in range(CHUNKS):
        started = time.perf_counter()
        # one line of the log for every few optimizer steps
        for _ in range(LOG_EVERY):
            rows = torch.randint(0, TRAIN_ROWS, (BATCH_SIZE,), generator=generator)
            loss = F.cross_entropy(model(train_features[rows]), train_labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % EVALUATE_EVERY == 0:
                val_loss, val_accuracy = evaluate(model, val_features, val_labels)
        training_log.append((step, loss.item(), val_loss, val_accuracy))
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={val_loss:.6f}")


if __name__ == "__main__":
    main()
