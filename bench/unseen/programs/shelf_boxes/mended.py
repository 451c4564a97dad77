"""Trains a small DETR-style detector on synthetic photographs of densely filled shop shelves."""
import statistics
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
from torch.utils.data import DataLoader, Dataset

TRAIN_SECONDS = 11
PHOTOS = 192
SIDE = 80
PRODUCTS = 12
QUERIES = 80
BATCH = 12
WIDTH = 48
LAYERS = 2


class ShelfPhotos(Dataset):
    """Rows of packages drawn into a photograph; the target holds the boxes (cx, cy, w, h) and product labels."""

    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.photos = np.empty((count, 3, SIDE, SIDE), dtype=np.float32)
        self.targets = []
        colours = rng.random((PRODUCTS, 3)).astype(np.float32)
        for index in range(count):
            photo = 0.2 * rng.random((3, SIDE, SIDE), dtype=np.float32)
            boxes, labels = [], []
            shelves = rng.integers(4, 7)
            for top in np.linspace(2, SIDE - 4, shelves, endpoint=False):
                height = (SIDE - 6) / shelves * 0.85
                left = rng.uniform(1, 6)
                while left < SIDE - 13:
                    width = rng.uniform(7, 12)
                    if rng.random() < 0.85:
                        product = int(rng.integers(PRODUCTS))
                        photo[:, int(top):int(top + height), int(left):int(left + width)] += colours[product][:, None, None]
                        boxes.append((left + width / 2, top + height / 2, width, height))
                        labels.append(product)
                    left += width + rng.uniform(0.5, 2)
            self.photos[index] = photo
            self.targets.append({"boxes": torch.tensor(boxes, dtype=torch.float32) / SIDE, "labels": torch.tensor(labels)})

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, index):
        return torch.from_numpy(self.photos[index]), self.targets[index]


def collate(samples):
    photos, targets = zip(*samples)
    return torch.stack(photos), list(targets)


class ShelfDetector(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = (3, 16, 32, WIDTH)
        self.backbone = nn.Sequential(*(nn.Sequential(nn.Conv2d(a, b, 3, stride=2, padding=1), nn.GroupNorm(4, b), nn.ReLU())
                                        for a, b in zip(sizes[:-1], sizes[1:])), nn.AvgPool2d(2))
        self.place = nn.Parameter(0.1 * torch.randn((SIDE // 16) ** 2, WIDTH))
        self.queries = nn.Parameter(torch.randn(QUERIES, WIDTH))
        self.layers = nn.ModuleList(nn.TransformerDecoderLayer(WIDTH, 4, 96, dropout=0.0, batch_first=True)
                                    for _ in range(LAYERS))
        self.label_head = nn.Linear(WIDTH, PRODUCTS + 1)
        self.box_head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4))

    def forward(self, photos):
        memory = self.backbone(photos).flatten(2).transpose(1, 2) + self.place
        state = self.queries.expand(len(photos), -1, -1)
        outputs = []
        for layer in self.layers:
            state = layer(state, memory)
            outputs.append({"logits": self.label_head(state), "boxes": self.box_head(state).sigmoid()})
        return outputs


def corners(boxes):
    centre, size = boxes[..., :2], boxes[..., 2:]
    return torch.cat([centre - size / 2, centre + size / 2], dim=-1)


def area(sides):
    return sides[..., 0] * sides[..., 1]


def generalized_iou(first, second):
    """Generalised IoU of two sets of boxes in corner form, broadcast against each other."""
    low, high = torch.maximum(first[..., :2], second[..., :2]), torch.minimum(first[..., 2:], second[..., 2:])
    inter = area((high - low).clamp(min=0))
    union = area(first[..., 2:] - first[..., :2]) + area(second[..., 2:] - second[..., :2]) - inter
    hull = area(torch.maximum(first[..., 2:], second[..., 2:]) - torch.minimum(first[..., :2], second[..., :2]))
    return inter / union - (hull - union) / hull


class HungarianMatcher:
    label_weight, box_weight, giou_weight = 1.0, 5.0, 2.0

    def cost(self, probabilities, boxes, target):
        label_cost = -probabilities[:, target["labels"]]
        box_cost = torch.cdist(boxes, target["boxes"], p=1)
        giou_cost = -generalized_iou(corners(boxes)[:, None], corners(target["boxes"])[None])
        return self.label_weight * label_cost + self.box_weight * box_cost + self.giou_weight * giou_cost

    @torch.no_grad()
    def __call__(self, output, targets):
        probabilities = output["logits"].softmax(-1)
        blocks = [self.cost(probabilities[i], output["boxes"][i], target) for i, target in enumerate(targets)]
        pairs = [linear_sum_assignment(block.numpy()) for block in blocks]
        return [(torch.as_tensor(rows), torch.as_tensor(columns)) for rows, columns in pairs]


class SetLoss(nn.Module):
    def __init__(self, matcher):
        super().__init__()
        self.matcher = matcher
        self.register_buffer("weight", torch.tensor([1.0] * PRODUCTS + [0.2]))

    def one_layer(self, output, targets):
        pairs = self.matcher(output, targets)
        image = torch.cat([torch.full_like(rows, i) for i, (rows, _) in enumerate(pairs)])
        query = torch.cat([rows for rows, _ in pairs])
        labels = torch.full(output["logits"].shape[:2], PRODUCTS)
        labels[image, query] = torch.cat([target["labels"][columns] for target, (_, columns) in zip(targets, pairs)])
        wanted = torch.cat([target["boxes"][columns] for target, (_, columns) in zip(targets, pairs)])
        found = output["boxes"][image, query]
        label_loss = F.cross_entropy(output["logits"].transpose(1, 2), labels, self.weight)
        giou_loss = (1 - generalized_iou(corners(found), corners(wanted))).mean()
        return label_loss + 5 * F.l1_loss(found, wanted) + 2 * giou_loss

    def forward(self, outputs, targets):
        return sum(self.one_layer(output, targets) for output in outputs) / len(outputs)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    loader = DataLoader(ShelfPhotos(PHOTOS, 31), BATCH, shuffle=True, drop_last=True, collate_fn=collate,
                        generator=torch.Generator().manual_seed(1))
    model, criterion = ShelfDetector(), SetLoss(HungarianMatcher())
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=1e-4)
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        for photos, targets in loader:
            began = time.perf_counter()
            loss = criterion(model(photos), targets)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            losses.append(loss.item())
            times.append((time.perf_counter() - began) * 1e3)
            if time.perf_counter() - start > TRAIN_SECONDS:
                break
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
