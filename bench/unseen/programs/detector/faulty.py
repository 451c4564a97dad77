"""Train a one-stage toy detector on images with a few coloured rectangles."""

import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

IMAGE_SIZE = 96
STRIDE = 8
CELLS = IMAGE_SIZE // STRIDE
ANCHOR_SIZE = 24.0
CLASSES = 3
MATCH_OVERLAP = 0.5
IMAGES = 240
BATCH = 12
STEPS = 50


def make_dataset():
    """Images, and for each its boxes (x1, y1, x2, y2) and classes 1..CLASSES."""
    images = 0.1 * torch.randn(IMAGES, 3, IMAGE_SIZE, IMAGE_SIZE)
    targets = []
    for image in images:
        count = int(torch.randint(2, 5, (1,)))
        size = torch.randint(18, 33, (count, 2))
        corner = (torch.rand(count, 2) * (IMAGE_SIZE - size)).long()
        boxes = torch.cat([corner, corner + size], dim=1)
        labels = torch.randint(1, CLASSES + 1, (count,))
        for (x1, y1, x2, y2), label in zip(boxes.tolist(), labels.tolist()):
            image[label - 1, y1:y2, x1:x2] += 1.0
        targets.append((boxes.float(), labels))
    return images, targets


def make_anchors():
    """One square anchor at the middle of each cell, row by row."""
    centres = (torch.arange(CELLS) + 0.5) * STRIDE
    y, x = torch.meshgrid(centres, centres, indexing="ij")
    middle = torch.stack([x.flatten(), y.flatten()], dim=1)
    return torch.cat([middle - ANCHOR_SIZE / 2, middle + ANCHOR_SIZE / 2], dim=1)


def box_iou(a, b):
    top_left = torch.maximum(a[:, None, :2], b[None, :, :2])
    bottom_right = torch.minimum(a[:, None, 2:], b[None, :, 2:])
    shared = (bottom_right - top_left).clamp(min=0).prod(dim=2)
    area_a = (a[:, 2:] - a[:, :2]).prod(dim=1)
    area_b = (b[:, 2:] - b[:, :2]).prod(dim=1)
    return shared / (area_a[:, None] + area_b[None, :] - shared)


def match_anchors(anchors, boxes, labels):
    """Class (0 is background) and box offset that each anchor should predict."""
    overlaps = box_iou(anchors, boxes)
    classes = torch.zeros(len(anchors), dtype=torch.long)
    offsets = torch.zeros(len(anchors), 4)
    for i in range(len(anchors)):
        best, best_overlap = -1, 0.0
        for j in range(len(boxes)):
            overlap = overlaps[i, j].item()
            if overlap > best_overlap:
                best, best_overlap = j, overlap
        if best_overlap >= MATCH_OVERLAP:
            classes[i] = labels[best]
            offsets[i] = (boxes[best] - anchors[i]) / ANCHOR_SIZE
    return classes, offsets


def conv_block(channels_in, channels_out, stride):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(inplace=True),
    )


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            conv_block(3, 32, 2),
            conv_block(32, 64, 2),
            conv_block(64, 128, 2),
            conv_block(128, 128, 1),
        )
        self.head = nn.Conv2d(128, CLASSES + 1 + 4, 1)

    def forward(self, images):
        output = self.head(self.body(images)).permute(0, 2, 3, 1)
        output = output.reshape(len(images), CELLS * CELLS, -1)
        return output[..., : CLASSES + 1], output[..., CLASSES + 1 :]


def detection_loss(scores, predicted, classes, offsets):
    class_loss = F.cross_entropy(scores.flatten(0, 1), classes.flatten())
    positive = (classes > 0).float().unsqueeze(2)
    box_loss = F.smooth_l1_loss(predicted, offsets, reduction="none") * positive
    return class_loss + box_loss.sum() / positive.sum().clamp(min=1.0)


def main():
    torch.manual_seed(21)
    images, targets = make_dataset()
    anchors = make_anchors()
    model = Detector()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

    times = []
    for step in range(STEPS):
        start = time.perf_counter()
        picked = torch.randint(0, IMAGES, (BATCH,))
        matches = [match_anchors(anchors, *targets[k]) for k in picked.tolist()]
        classes = torch.stack([match[0] for match in matches])
        offsets = torch.stack([match[1] for match in matches])

        scores, predicted = model(images[picked])
        loss = detection_loss(scores, predicted, classes, offsets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        final_loss = loss.item()
        times.append(time.perf_counter() - start)

    print(f"step_ms={statistics.median(times[5:]) * 1000:.2f}")
    print(f"result={final_loss:.6f}")


if __name__ == "__main__":
    main()
