"""Classify web-shop sessions by the sequence of their events."""
import statistics
import time

import numpy as np
import torch
from torch import nn

SEED = 5
NUM_EVENTS = 500
NUM_CLASSES = 4
NUM_SESSIONS = 640
SESSION_LENGTH = 120
EMBEDDING_DIM = 48
HIDDEN_DIM = 96
BATCH_SIZE = 32
EPOCHS = 3
LEARNING_RATE = 1e-3


def make_sessions():
    """Return event ids of shape (sessions, events) and a class per session."""
    rng = np.random.default_rng(SEED)
    labels = rng.integers(0, NUM_CLASSES, size=NUM_SESSIONS)
    events = rng.integers(0, NUM_EVENTS, size=(NUM_SESSIONS, SESSION_LENGTH))
    # each class of visitor prefers its own group of 20 events
    preferred = labels[:, None] * 20 + rng.integers(0, 20, size=events.shape)
    use_preferred = rng.random(events.shape) < 0.25
    events = np.where(use_preferred, preferred, events)
    return torch.from_numpy(events), torch.from_numpy(labels)


class SessionClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(NUM_EVENTS, EMBEDDING_DIM)
        self.cell = nn.GRUCell(EMBEDDING_DIM, HIDDEN_DIM)
        self.head = nn.Sequential(
            nn.Linear(HIDDEN_DIM, HIDDEN_DIM),
            nn.ReLU(),
            nn.Linear(HIDDEN_DIM, NUM_CLASSES),
        )

    def encode(self, embedded):
        """Return the hidden state after every event, (batch, events, hidden)."""
        hidden = embedded.new_zeros(embedded.size(0), HIDDEN_DIM)
        states = []
        for t in range(embedded.size(1)):
            hidden = self.cell(embedded[:, t], hidden)
            states.append(hidden)
        return torch.stack(states, dim=1)

    def forward(self, events):
        states = self.encode(self.embedding(events))
        return self.head(states.mean(dim=1))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    events, labels = make_sessions()
    model = SessionClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    criterion = nn.CrossEntropyLoss()

    model.train()
    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        order = torch.randperm(NUM_SESSIONS)
        for start in range(0, NUM_SESSIONS, BATCH_SIZE):
            chosen = order[start:start + BATCH_SIZE]
            optimizer.zero_grad()
            logits = model(events[chosen])
            loss = criterion(logits, labels[chosen])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
