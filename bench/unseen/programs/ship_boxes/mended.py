"""Finds ships and their boxes on satellite images with a one-stage detector."""
import statistics
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

SEED = 29
IMAGES = 160
SIDE = 64
CELLS = 8
BATCH_SIZE = 4
STEPS = 60
SAVE_EVERY = 30
LEARNING_RATE = 3e-4


def make_images():
    """Sea with one to three ships; returns images, which cells hold a ship, and the boxes of these ships."""
    generator = torch.Generator().manual_seed(SEED)
    images = 0.2 * torch.randn(IMAGES, 1, SIDE, SIDE, generator=generator)
    present = torch.zeros(IMAGES, CELLS, CELLS)
    boxes = torch.zeros(IMAGES, 4, CELLS, CELLS)
    cell = SIDE // CELLS
    for number in range(IMAGES):
        for _ in range(1 + number % 3):
            y, x = torch.randint(8, SIDE - 8, (2,), generator=generator).tolist()
            height, width = torch.randint(3, 13, (2,), generator=generator).tolist()
            images[number, 0, y - height // 2:y + height // 2 + 1, x - width // 2:x + width // 2 + 1] += 1.5
            row, column = y // cell, x // cell
            present[number, row, column] = 1.0
            box = [y / cell - row, x / cell - column, height / cell, width / cell]
            boxes[number, :, row, column] = torch.tensor(box)
    return images, present, boxes


def conv(inputs, outputs, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
        nn.GroupNorm(8, outputs),
        nn.SiLU(),
    )


class ShipDetector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            conv(1, 24, stride=2),
            conv(24, 64, stride=2),
            conv(64, 256, stride=2),
            conv(256, 512),
        )
        self.present = nn.Conv2d(512, 1, 1)
        self.boxes = nn.Sequential(conv(512, 128), nn.Conv2d(128, 4, 1))

    def forward(self, images):
        features = self.backbone(images)
        return self.present(features).squeeze(1), self.boxes(features)


def detection_loss(logits, predicted, present, boxes):
    found = F.binary_cross_entropy_with_logits(logits, present, pos_weight=torch.tensor(8.0))
    off = F.smooth_l1_loss(predicted, boxes, reduction="none").sum(dim=1)
    return found + (off * present).sum() / present.sum()


class Trainer:
    def __init__(self, model, folder):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
        self.folder = Path(folder)
        self.steps = 0
        self.losses = []

    def save(self):
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "steps": self.steps,
            "losses": self.losses,
        }
        torch.save(state, self.folder / "last.pt")

    def step(self, images, present, boxes):
        logits, predicted = self.model(images)
        loss = detection_loss(logits, predicted, present, boxes)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        self.losses.append(loss.item())
        if self.steps % SAVE_EVERY == 0:
            self.save()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    images, present, boxes = make_images()
    step_times = []
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(ShipDetector(), folder)
        for step in range(STEPS):
            started = time.perf_counter()
            rows = torch.randint(0, IMAGES, (BATCH_SIZE,))
            trainer.step(images[rows], present[rows], boxes[rows])
            step_times.append(time.perf_counter() - started)
        size = (trainer.folder / "last.pt").stat().st_size

    print(f"the checkpoint has {size / 1e6:.1f} MB")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(trainer.losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
