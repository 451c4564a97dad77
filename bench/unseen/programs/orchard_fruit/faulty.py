"""Finds apples, pears and plums in pictures that a drone took of an orchard."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 73
PICTURES = 640
SIZE = 96
STRIDE = 8
GRID = SIZE // STRIDE
KINDS = 3
COLOURS = np.array([[200, 40, 30], [190, 200, 60], [90, 40, 120]], dtype=np.float32)
BATCH_SIZE = 32
WORKERS = 2
EPOCHS = 7
LEARNING_RATE = 1e-3


def paint(rng):
    picture = rng.normal(95, 22, size=(SIZE, SIZE, 3)).astype(np.float32)
    picture[..., 1] += 35
    boxes, kinds = [], []
    rows, columns = np.mgrid[:SIZE, :SIZE]
    for _ in range(rng.integers(4, 13)):
        radius = rng.uniform(3, 8)
        x, y = rng.uniform(radius, SIZE - radius, size=2)
        kind = rng.integers(KINDS)
        inside = (columns - x) ** 2 + (rows - y) ** 2 < radius**2
        picture[inside] = COLOURS[kind] + rng.normal(0, 12, size=3)
        boxes.append([x - radius, y - radius, x + radius, y + radius])
        kinds.append(kind)
    return picture.clip(0, 255).astype(np.uint8), np.array(boxes, dtype=np.float32), np.array(kinds)


class OrchardDataset(Dataset):
    def __init__(self, scenes):
        self.scenes = scenes

    def __len__(self):
        return len(self.scenes)

    def __getitem__(self, index):
        picture, boxes, kinds = self.scenes[index]
        image = torch.from_numpy(picture).permute(2, 0, 1).float().div_(255).sub_(0.45).div_(0.25)
        boxes = torch.from_numpy(boxes)
        if index % 2:
            image = image.flip(2)
            boxes = torch.stack([SIZE - boxes[:, 2], boxes[:, 1], SIZE - boxes[:, 0], boxes[:, 3]], dim=1)
        target = {
            "boxes": boxes,
            "kinds": torch.from_numpy(kinds),
            "area": (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]),
            "picture": torch.tensor([index]),
        }
        return image, target


def collate(samples):
    return tuple(zip(*samples))


class FruitDetector(nn.Module):
    def __init__(self):
        super().__init__()

        def block(inputs, outputs, stride):
            return nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU(inplace=True),
            )

        self.body = nn.Sequential(
            block(3, 32, 2), block(32, 64, 2), block(64, 64, 1), block(64, 128, 2), block(128, 128, 1)
        )
        self.found = nn.Conv2d(128, 1, 1)
        self.kind = nn.Conv2d(128, KINDS, 1)
        self.box = nn.Conv2d(128, 4, 1)

    def forward(self, images):
        features = self.body(images)
        return self.found(features).squeeze(1), self.kind(features), self.box(features)


def detection_loss(outputs, boxes, kinds, areas, owner):
    found, kind, box = outputs
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    columns, rows = (centres / STRIDE).long().clamp_(0, GRID - 1).unbind(1)
    wanted = torch.zeros_like(found)
    wanted[owner, rows, columns] = 1
    loss = F.binary_cross_entropy_with_logits(found, wanted, pos_weight=torch.tensor(6.0))
    loss = loss + F.cross_entropy(kind[owner, :, rows, columns], kinds)
    corner = torch.stack([columns, rows], dim=1) * float(STRIDE)
    offsets = torch.cat([centres - corner, (boxes[:, 2:] - boxes[:, :2])], dim=1) / STRIDE
    errors = F.smooth_l1_loss(box[owner, :, rows, columns], offsets, reduction="none").mean(dim=1)
    weight = 1 / areas.sqrt()
    return loss + (errors * weight).sum() / weight.sum()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    dataset = OrchardDataset([paint(rng) for _ in range(PICTURES)])
    loader = DataLoader(
        dataset, batch_size=BATCH_SIZE, shuffle=True, num_workers=WORKERS,
        collate_fn=collate, persistent_workers=True,
    )
    model = FruitDetector()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for images, targets in loader:
            images = torch.stack(images)
            boxes = torch.cat([target["boxes"] for target in targets])
            kinds = torch.cat([target["kinds"] for target in targets])
            areas = torch.cat([target["area"] for target in targets])
            owner = torch.cat([torch.full((len(t["boxes"]),), i) for i, t in enumerate(targets)])
            loss = detection_loss(model(images), boxes, kinds, areas, owner)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
