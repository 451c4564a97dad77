"""Fits a small detector of bottles on shop shelves and counts the bottles on many photos of shelves."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 47
SIZE = 192
STRIDE = 8
SHAPES = torch.tensor([[18.0, 44.0], [26.0, 60.0], [32.0, 32.0]])
BATCH_SIZE = 3
FIT_STEPS = 24
SHELVES = 60
MIN_SCORE = 0.3
MAX_OVERLAP = 0.5
COUNT_SECONDS = 13.0
COMPARED_STEPS = 16


def paint_shelf(rng):
    photo = rng.uniform(0.25, 0.45, size=(3, 1, 1)) + rng.normal(0, 0.05, size=(3, SIZE, SIZE))
    boxes = []
    for row in range(2):
        x = int(rng.integers(4, 30))
        while x < SIZE - 40:
            width, height = int(rng.integers(16, 26)), int(rng.integers(40, 60))
            top = 20 + row * 86 + int(rng.integers(0, 10))
            photo[:, top:top + height, x:x + width] = rng.uniform(0.6, 1, size=(3, 1, 1))
            boxes.append((x, top, x + width, top + height))
            x += width + int(rng.integers(14, 60))
    return torch.from_numpy(photo.astype(np.float32)), torch.tensor(boxes, dtype=torch.float32)


def make_anchors():
    cells = torch.arange(SIZE // STRIDE) * STRIDE + STRIDE / 2
    y, x = torch.meshgrid(cells, cells, indexing="ij")
    centres = torch.stack([x, y], dim=-1).reshape(-1, 1, 2)
    return torch.cat([centres - SHAPES / 2, centres + SHAPES / 2], dim=-1).reshape(-1, 4)


def overlap(boxes, others):
    corner = torch.maximum(boxes[:, None, :2], others[None, :, :2])
    opposite = torch.minimum(boxes[:, None, 2:], others[None, :, 2:])
    shared = (opposite - corner).clamp(min=0).prod(dim=2)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(dim=1)
    other_area = (others[:, 2:] - others[:, :2]).prod(dim=1)
    return shared / (area[:, None] + other_area[None] - shared)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()

        def block(inputs, outputs):
            return nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
            )

        self.body = nn.Sequential(
            block(3, 40), block(40, 80), block(80, 144),
            nn.Conv2d(144, 144, 3, padding=2, dilation=2, bias=False), nn.BatchNorm2d(144), nn.ReLU(inplace=True),
        )
        self.scores = nn.Conv2d(144, len(SHAPES), 1)
        self.offsets = nn.Conv2d(144, len(SHAPES) * 4, 1)
        nn.init.constant_(self.scores.bias, -3.0)

    def forward(self, photos):
        features = self.body(photos)
        scores = self.scores(features).permute(0, 2, 3, 1).flatten(1)
        offsets = self.offsets(features).permute(0, 2, 3, 1).reshape(len(photos), -1, 4)
        return scores, offsets


def fit(detector, anchors, shelves):
    optimizer = torch.optim.Adam(detector.parameters(), lr=3e-3)
    for step in range(FIT_STEPS):
        batch = [shelves[(step * BATCH_SIZE + number) % len(shelves)] for number in range(BATCH_SIZE)]
        scores, offsets = detector(torch.stack([photo for photo, _ in batch]))
        loss = 0
        for score, offset, (_, boxes) in zip(scores, offsets, batch):
            best, nearest = overlap(anchors, boxes).max(dim=1)
            target = (best > 0.5).float()
            loss = loss + F.binary_cross_entropy_with_logits(score, target, pos_weight=torch.tensor(4.0))
            loss = loss + ((offset * 16 + anchors - boxes[nearest]).abs() * target[:, None]).mean() * 0.2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def suppress(boxes, scores):
    """Keeps the best of the boxes that overlap each other."""
    order = scores.argsort(descending=True)
    kept = []
    while len(order):
        best, order = order[0], order[1:]
        kept.append(best)
        overlaps = overlap(boxes[best][None], boxes[order])[0]
        order = order[overlaps <= MAX_OVERLAP]
    return torch.stack(kept)


@torch.no_grad()
def detect(detector, anchors, photos):
    found = []
    for scores, offsets in zip(*detector(photos)):
        scores, boxes = scores.sigmoid(), (anchors + offsets * 16).clamp(0, SIZE)
        kept = suppress(boxes, scores)
        kept = kept[scores[kept] >= MIN_SCORE]
        found.append((boxes[kept], scores[kept]))
    return found


def main():
    started = time.perf_counter()
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    shelves = [paint_shelf(rng) for _ in range(SHELVES)]
    anchors, detector = make_anchors(), Detector()
    fit(detector, anchors, shelves)
    detector.eval()

    step_times, counts = [], []
    while time.perf_counter() - started < COUNT_SECONDS:
        first = len(step_times) * BATCH_SIZE % SHELVES
        begun = time.perf_counter()
        found = detect(detector, anchors, torch.stack([photo for photo, _ in shelves[first:first + BATCH_SIZE]]))
        step_times.append(time.perf_counter() - begun)
        counts.append(statistics.mean(len(boxes) for boxes, _ in found))

    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(counts[:COMPARED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
