"""Learns embeddings of postage stamps with a triplet loss; the hardest stamps of each batch are mined."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 866
ISSUES = 150
SHOTS = 12
SIZE = 32
ISSUES_PER_BATCH = 16
SHOTS_PER_ISSUE = 4
EMBEDDING = 64
MARGIN = 0.2
LEARNING_RATE = 1e-3
TRAIN_SECONDS = 11.5
REPORTED_STEPS = 25


def photograph_stamps():
    """SHOTS noisy photographs of each of the ISSUES."""
    rng = np.random.default_rng(SEED)
    coarse = rng.normal(size=(ISSUES, 3, 8, 8)).astype(np.float32)
    designs = F.interpolate(torch.from_numpy(coarse), size=SIZE, mode="bilinear").numpy()
    photographs = np.repeat(designs[:, None], SHOTS, axis=1)
    for shots in photographs:
        for shot in shots:
            shift = rng.integers(-3, 4, size=2)
            shot[:] = np.roll(shot, shift, axis=(1, 2)) * rng.uniform(0.6, 1.4)
    photographs += 0.4 * rng.normal(size=photographs.shape).astype(np.float32)
    return torch.from_numpy(photographs)


class StampBatches(Dataset):
    """Each item is a batch: some issues, some shots of each."""

    def __init__(self, photographs, batches):
        self.photographs = photographs
        self.batches = batches
        self.generator = torch.Generator().manual_seed(SEED)

    def __len__(self):
        return self.batches

    def __getitem__(self, index):
        issues = torch.randperm(ISSUES, generator=self.generator)[:ISSUES_PER_BATCH]
        shots = torch.rand(ISSUES_PER_BATCH, SHOTS, generator=self.generator).argsort(1)
        shots = shots[:, :SHOTS_PER_ISSUE]
        images = self.photographs[issues.unsqueeze(1), shots].flatten(0, 1)
        return images, issues.repeat_interleave(SHOTS_PER_ISSUE)


class StampEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for width in (24, 48, 96):
            layers += [nn.Conv2d(channels, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.head = nn.Linear(4 * channels, EMBEDDING)

    def forward(self, images):
        return F.normalize(self.head(self.layers(images)), dim=1)


class HardTripletLoss(nn.Module):
    """Triplet loss with the farthest positive and the nearest negative of each anchor."""

    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, embeddings, labels):
        distances = torch.cdist(embeddings, embeddings)
        losses = []
        for anchor in range(len(labels)):
            positive, negative = None, None
            for other in range(len(labels)):
                if other == anchor:
                    continue
                distance = distances[anchor, other]
                if labels[other] == labels[anchor]:
                    if positive is None or distance > positive:
                        positive = distance
                elif negative is None or distance < negative:
                    negative = distance
            losses.append(F.relu(positive - negative + self.margin))
        return torch.stack(losses).mean()


@torch.no_grad()
def recall(model, photographs):
    """How often the nearest photograph shows the same issue."""
    model.eval()
    embeddings = model(photographs[:, :4].flatten(0, 1))
    labels = torch.arange(ISSUES).repeat_interleave(4)
    distances = torch.cdist(embeddings, embeddings).fill_diagonal_(float("inf"))
    model.train()
    return (labels[distances.argmin(1)] == labels).float().mean().item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    photographs = photograph_stamps()
    loader = DataLoader(StampBatches(photographs, batches=200), batch_size=None)
    model = StampEncoder()
    criterion = HardTripletLoss(MARGIN)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

    step_times, losses = [], []
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        for images, labels in loader:
            loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now > finish:
                break

    print(f"{len(losses)} steps, recall {recall(model, photographs):.3f}")
    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
