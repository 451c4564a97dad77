"""Transfer learning: a new classifier on top of a pretrained feature extractor."""

import os
import statistics
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

IMAGE_SIZE = 64
CLASSES = 6
IMAGES = 480
BATCH = 16
STEPS = 50


def make_dataset():
    """Noisy images; the class sets the direction and width of the stripes."""
    labels = torch.randint(0, CLASSES, (IMAGES,))
    axis = torch.arange(IMAGE_SIZE, dtype=torch.float32)
    waves = torch.sin(axis * (0.2 + 0.15 * (labels // 2)).unsqueeze(1))
    across = waves.unsqueeze(1).expand(-1, IMAGE_SIZE, -1)
    down = waves.unsqueeze(2).expand(-1, -1, IMAGE_SIZE)
    stripes = torch.where((labels % 2 == 0).view(-1, 1, 1), across, down)
    noise = 0.5 * torch.randn(IMAGES, 3, IMAGE_SIZE, IMAGE_SIZE)
    return stripes.unsqueeze(1) + noise, labels


def conv_block(channels_in, channels_out, stride):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(),
    )


def make_backbone():
    return nn.Sequential(
        conv_block(3, 32, 2),
        conv_block(32, 48, 1),
        conv_block(48, 64, 2),
    )


class TransferModel(nn.Module):
    """Pretrained backbone, used as it is, and a classifier trained from scratch."""

    def __init__(self, checkpoint):
        super().__init__()
        self.backbone = make_backbone()
        self.backbone.load_state_dict(torch.load(checkpoint, weights_only=True))
        self.classifier = nn.Sequential(
            conv_block(64, 128, 2),
            conv_block(128, 192, 1),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(192, CLASSES),
        )

    def train(self, mode=True):
        super().train(mode)
        # keep the pretrained batch norm statistics
        self.backbone.eval()
        return self

    def forward(self, images):
        features = self.backbone(images)
        return self.classifier(features)


def save_pretrained(path):
    """Stands in for the checkpoint that comes from the model zoo."""
    torch.save(make_backbone().state_dict(), path)


def main():
    torch.manual_seed(17)
    images, labels = make_dataset()
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = os.path.join(folder, "backbone.pt")
        save_pretrained(checkpoint)
        model = TransferModel(checkpoint)
    model.train()

    # the backbone stays as it is, only the classifier learns
    optimizer = torch.optim.SGD(model.classifier.parameters(), lr=0.01, momentum=0.9)

    times = []
    for step in range(STEPS):
        start = time.perf_counter()
        picked = torch.randint(0, IMAGES, (BATCH,))
        loss = F.cross_entropy(model(images[picked]), labels[picked])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        final_loss = loss.item()
        times.append(time.perf_counter() - start)

    print(f"step_ms={statistics.median(times[5:]) * 1000:.2f}")
    print(f"result={final_loss:.6f}")


if __name__ == "__main__":
    main()
