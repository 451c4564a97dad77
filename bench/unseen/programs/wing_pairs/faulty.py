"""Learns embeddings of moth wings with a contrastive loss and a memory of embeddings of earlier batches."""
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
SPECIES = 40
WINGS = 1600
SIZE = 24
BATCH = 32
WIDTH = 64
MEMORY = 1152


class WingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 24, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 48, 3, padding=1, bias=False), nn.BatchNorm2d(48), nn.ReLU(),
            nn.Conv2d(48, 64, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU())
        self.out = nn.Linear(64, WIDTH)

    def forward(self, wings):
        return F.normalize(self.out(self.body(wings).mean(dim=(2, 3))), dim=1)


def all_pairs(labels, reference):
    """Index pairs (anchor, other) of equal and of unequal labels."""
    same = labels[:, None] == reference[None, :]
    different = ~same
    if labels is reference:
        same.fill_diagonal_(False)
    anchors, positives = torch.where(same)
    others, negatives = torch.where(different)
    return anchors, positives, others, negatives


class ContrastiveLoss(nn.Module):
    def __init__(self, keep=0.9, margin=0.4):
        super().__init__()
        self.keep, self.margin = keep, margin

    @staticmethod
    def mean_of_active(values):
        active = (values > 0).sum().clamp(min=1)
        return values.sum() / active

    def forward(self, embeddings, reference, pairs):
        anchors, positives, others, negatives = pairs
        similarity = embeddings @ reference.T
        pull = F.relu(self.keep - similarity[anchors, positives])
        push = F.relu(similarity[others, negatives] - self.margin)
        return self.mean_of_active(pull) + self.mean_of_active(push)


class CrossBatchMemory(nn.Module):
    """Pairs the current batch with itself and with the embeddings of the batches before it."""

    def __init__(self, loss, size):
        super().__init__()
        self.loss, self.size = loss, size
        self.register_buffer("kept", torch.zeros(size, WIDTH))
        self.register_buffer("kept_labels", torch.zeros(size, dtype=torch.long))
        self.place, self.filled = 0, 0

    def remember(self, embeddings, labels):
        rows = (torch.arange(len(labels)) + self.place) % self.size
        self.kept[rows] = embeddings.detach()
        self.kept_labels[rows] = labels
        self.place = (self.place + len(labels)) % self.size
        self.filled = min(self.filled + len(labels), self.size)

    def forward(self, embeddings, labels):
        count = len(labels)
        everything = torch.cat([embeddings, self.kept[: self.filled]])
        every_label = torch.cat([labels, self.kept_labels[: self.filled]])
        anchors, positives, others, negatives = all_pairs(every_label, every_label)
        current, opposed = anchors < count, others < count
        pairs = (anchors[current], positives[current], others[opposed], negatives[opposed])
        loss = self.loss(embeddings, everything, pairs)
        self.remember(embeddings, labels)
        return loss


def photograph(seed):
    generator = torch.Generator().manual_seed(seed)
    species = torch.arange(WINGS) % SPECIES
    patterns = torch.randn(SPECIES, 3, 6, 6, generator=generator)
    wings = F.interpolate(patterns, size=(SIZE, SIZE), mode="bilinear")[species]
    light = 0.7 + 0.6 * torch.rand(WINGS, 1, 1, 1, generator=generator)
    return wings * light + 0.5 * torch.randn(wings.shape, generator=generator), species


class BalancedSampler:
    """Batches of BATCH // 4 species with four wings of each."""

    def __init__(self, seed, each=4):
        self.generator, self.each = torch.Generator().manual_seed(seed), each

    def draw(self):
        chosen = torch.randperm(SPECIES, generator=self.generator)[: BATCH // self.each]
        turn = torch.randint(WINGS // SPECIES, (len(chosen), self.each), generator=self.generator)
        return (turn * SPECIES + chosen[:, None]).flatten()


def train_step(model, memory, optimizer, wings, species):
    loss = memory(model(wings), species)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    wings, species = photograph(8)
    sampler = BalancedSampler(9)
    model = WingNet()
    memory = CrossBatchMemory(ContrastiveLoss(), MEMORY)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        rows = sampler.draw()
        losses.append(train_step(model, memory, optimizer, wings[rows], species[rows]))
        times.append((time.perf_counter() - began) * 1e3)
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
