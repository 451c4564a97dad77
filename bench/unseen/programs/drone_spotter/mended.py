"""Set-prediction detector for drones in aerial frames: queries, Hungarian matching, box losses."""
import statistics
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment

TRAIN_SECONDS = 11
SIDE = 96
BATCH = 18
QUERIES = 120
CLASSES = 4
WIDTH = 64


def to_corners(boxes):
    centre, size = boxes[..., :2], boxes[..., 2:]
    return torch.cat([centre - size / 2, centre + size / 2], dim=-1)


def pairwise_giou(a, b):
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    wh = (torch.min(a[:, None, 2:], b[None, :, 2:]) - torch.max(a[:, None, :2], b[None, :, :2])).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    union = area_a[:, None] + area_b[None, :] - inter
    hull = torch.max(a[:, None, 2:], b[None, :, 2:]) - torch.min(a[:, None, :2], b[None, :, :2])
    hull_area = hull[..., 0] * hull[..., 1]
    return inter / union - (hull_area - union) / hull_area


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 24, 5, stride=4, padding=2), nn.GroupNorm(4, 24), nn.ReLU(),
            nn.Conv2d(24, 64, 3, stride=2, padding=1), nn.GroupNorm(8, 64), nn.ReLU(),
            nn.Conv2d(64, WIDTH, 3, padding=1))
        self.position = nn.Parameter(torch.randn(1, (SIDE // 8) ** 2, WIDTH) * 0.1)
        self.query = nn.Parameter(torch.randn(1, QUERIES, WIDTH) * 0.5)
        self.layers = nn.ModuleList(
            nn.TransformerDecoderLayer(WIDTH, 4, 192, dropout=0.0, batch_first=True) for _ in range(2))
        self.label = nn.Linear(WIDTH, CLASSES + 1)
        self.box = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4))

    def forward(self, frames):
        memory = self.backbone(frames).flatten(2).transpose(1, 2) + self.position
        hidden, outputs = self.query.expand(len(frames), -1, -1), []
        for layer in self.layers:
            hidden = layer(hidden, memory)
            outputs.append((self.label(hidden), self.box(hidden).sigmoid()))
        return outputs


class Matcher:
    def __init__(self, class_weight=1.0, box_weight=5.0, giou_weight=2.0):
        self.class_weight, self.box_weight, self.giou_weight = class_weight, box_weight, giou_weight

    def cost(self, probability, boxes, target_labels, target_boxes):
        class_cost = -probability[:, target_labels]
        box_cost = torch.cdist(boxes, target_boxes, p=1)
        giou_cost = -pairwise_giou(to_corners(boxes), to_corners(target_boxes))
        return self.class_weight * class_cost + self.box_weight * box_cost + self.giou_weight * giou_cost

    @torch.no_grad()
    def __call__(self, logits, boxes, targets):
        probability = logits.softmax(-1)
        cost = [self.cost(p, b, labels, target_boxes)
                for p, b, (labels, target_boxes) in zip(probability, boxes, targets)]
        return [linear_sum_assignment(c.numpy()) for c in cost]


class Criterion(nn.Module):
    def __init__(self, matcher):
        super().__init__()
        self.matcher = matcher
        self.register_buffer("weight", torch.tensor([1.0] * CLASSES + [0.1]))

    def forward(self, outputs, targets):
        total, count = 0.0, sum(len(labels) for labels, _ in targets)
        for logits, boxes in outputs:
            matches = self.matcher(logits, boxes, targets)
            image = torch.cat([torch.full((len(q),), i) for i, (q, _) in enumerate(matches)])
            query = torch.from_numpy(np.concatenate([q for q, _ in matches]))
            labels = torch.cat([t[0][j] for t, (_, j) in zip(targets, matches)])
            wanted = torch.cat([t[1][j] for t, (_, j) in zip(targets, matches)])
            classes = torch.full(logits.shape[:2], CLASSES)
            classes[image, query] = labels
            total = total + F.cross_entropy(logits.transpose(1, 2), classes, self.weight)
            total = total + 5.0 * F.l1_loss(boxes[image, query], wanted, reduction="sum") / count
        return total


def make_frames(count=256):
    rng = np.random.default_rng(11)
    frames, targets = 0.2 * rng.standard_normal((count, 3, SIDE, SIDE), dtype=np.float32), []
    for frame in frames:
        n = rng.integers(40, 61)
        size = rng.uniform(0.04, 0.09, (n, 2))
        centre = rng.uniform(size / 2, 1 - size / 2)
        labels = rng.integers(0, CLASSES, n)
        for (cx, cy), (w, h), label in zip(centre, size, labels):
            x0, x1 = int((cx - w / 2) * SIDE), int((cx + w / 2) * SIDE) + 1
            y0, y1 = int((cy - h / 2) * SIDE), int((cy + h / 2) * SIDE) + 1
            frame[label % 3, y0:y1, x0:x1] += 1.0 if label < 3 else -1.0
        boxes = np.concatenate([centre, size], axis=1).astype(np.float32)
        targets.append((torch.from_numpy(labels), torch.from_numpy(boxes)))
    return torch.from_numpy(frames), targets


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    frames, targets = make_frames()
    model, criterion = Detector(), Criterion(Matcher())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        chosen = torch.randint(len(frames), (BATCH,)).tolist()
        loss = criterion(model(frames[chosen]), [targets[i] for i in chosen])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        times.append((time.perf_counter() - began) * 1e3)
    print(f"steps={len(times)} last loss {losses[-1]:.3f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
