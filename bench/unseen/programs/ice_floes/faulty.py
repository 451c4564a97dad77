"""Trains a network that segments floes, slush and open water on radar images of sea ice."""
import itertools
import statistics
import time

import numpy as np
import torch
from scipy.ndimage import gaussian_filter
from sklearn.metrics import confusion_matrix
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 47
IMAGES = 120
SIZE = 160
CLASSES = ("water", "slush", "young ice", "floe", "ridge")
BATCH_SIZE = 8
LEARNING_RATE = 2e-3
RUN_SECONDS = 12.5
COMPARED_STEPS = 15


def make_images():
    rng = np.random.default_rng(SEED)
    images = np.empty((IMAGES, 1, SIZE, SIZE), dtype=np.float32)
    masks = np.empty((IMAGES, SIZE, SIZE), dtype=np.int64)
    for image, mask in zip(images, masks):
        field = gaussian_filter(rng.standard_normal((SIZE, SIZE), dtype=np.float32), 7)
        field = (field - field.mean()) / field.std()
        mask[:] = np.digitize(field, (-0.9, -0.4, 0.2, 1.4))
        image[0] = mask / 2 - 1 + rng.standard_normal((SIZE, SIZE), dtype=np.float32) * 0.6
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(masks))


def double_conv(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
    )


class IceNet(nn.Module):
    """A small U-Net."""

    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, stride=2, padding=1)
        self.down1 = double_conv(width, width)
        self.down2 = double_conv(width, 2 * width)
        self.down3 = double_conv(2 * width, 4 * width)
        self.up2 = double_conv(6 * width, 2 * width)
        self.up1 = double_conv(3 * width, width)
        self.head = nn.Conv2d(width, len(CLASSES), 1)

    def forward(self, images):
        first = self.down1(self.stem(images))
        second = self.down2(F.max_pool2d(first, 2))
        third = self.down3(F.max_pool2d(second, 2))
        second = self.up2(torch.cat([F.interpolate(third, scale_factor=2), second], dim=1))
        first = self.up1(torch.cat([F.interpolate(second, scale_factor=2), first], dim=1))
        return F.interpolate(self.head(first), scale_factor=2, mode="bilinear", align_corners=False)


class MeanIoU:
    """Running intersection over union of the classes."""

    def __init__(self, classes):
        self.classes = classes
        self.counts = np.zeros((classes, classes), dtype=np.int64)

    def update(self, predicted, target):
        predicted = predicted.flatten().numpy()
        target = target.flatten().numpy()
        self.counts += confusion_matrix(target, predicted, labels=range(self.classes))

    def compute(self):
        hits = np.diag(self.counts)
        union = self.counts.sum(axis=0) + self.counts.sum(axis=1) - hits
        return float(np.mean(hits / np.maximum(union, 1)))


def train_step(model, optimizer, metric, images, masks):
    logits = model(images)
    loss = F.cross_entropy(logits, masks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    metric.update(logits.detach().argmax(dim=1), masks)
    return loss.item()


def train(model, loader, started):
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    step_times, losses, scores = [], [], []
    last = time.perf_counter()
    for epoch in itertools.count():
        metric = MeanIoU(len(CLASSES))
        for images, masks in loader:
            losses.append(train_step(model, optimizer, metric, images, masks))
            scores.append(metric.compute())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now - started > RUN_SECONDS:
                return step_times, losses, scores
        print(f"epoch {epoch}: loss {statistics.mean(losses[-len(loader):]):.4f} mIoU {scores[-1]:.4f}")


def main():
    started = time.perf_counter()
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    loader = DataLoader(make_images(), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    step_times, losses, scores = train(IceNet(), loader, started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:COMPARED_STEPS]) + scores[COMPARED_STEPS - 1]:.4f}")


if __name__ == "__main__":
    main()
