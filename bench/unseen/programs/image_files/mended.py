"""Train a small CNN that tells from a photo which kind of part lies on the belt."""
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = 7
PART_KINDS = ["washer", "plate", "rod", "bracket"]
NUM_PHOTOS = 128
PHOTO_SIZE = (640, 480)
INPUT_SIZE = 96
BATCH_SIZE = 8
EPOCHS = 4
LEARNING_RATE = 1e-3


def draw_part(draw, kind, rng):
    x = int(rng.integers(0, PHOTO_SIZE[0] - 90))
    y = int(rng.integers(0, PHOTO_SIZE[1] - 90))
    size = int(rng.integers(40, 90))
    colour = tuple(int(value) for value in rng.integers(0, 256, size=3))
    if kind == "washer":
        draw.ellipse((x, y, x + size, y + size), outline=colour, width=10)
    elif kind == "plate":
        draw.rectangle((x, y, x + size, y + size), fill=colour)
    elif kind == "rod":
        draw.line((x, y, x + size, y + size), fill=colour, width=12)
    else:
        draw.polygon([(x, y), (x + size, y), (x, y + size)], fill=colour)


def make_photos(folder):
    """Write one JPEG per photo and return a list of (path, label)."""
    rng = np.random.default_rng(SEED)
    width, height = PHOTO_SIZE
    samples = []
    for number in range(NUM_PHOTOS):
        label = number % len(PART_KINDS)
        belt = rng.integers(90, 180, size=(height // 8, width // 8, 3), dtype=np.uint8)
        photo = Image.fromarray(belt).resize(PHOTO_SIZE, Image.Resampling.BILINEAR)
        draw = ImageDraw.Draw(photo)
        for _ in range(12):
            draw_part(draw, PART_KINDS[label], rng)
        # camera grain
        grain = rng.integers(-6, 7, size=(height, width, 3), dtype=np.int16)
        pixels = np.asarray(photo).astype(np.int16) + grain
        pixels = np.clip(pixels, 0, 255).astype(np.uint8)
        path = Path(folder) / f"photo_{number:04d}.jpg"
        Image.fromarray(pixels).save(path, quality=90)
        samples.append((path, label))
    return samples


def load_photo(path):
    """Read a photo and return it as a float tensor of the network's input size."""
    with Image.open(path) as photo:
        small = photo.convert("RGB").resize((INPUT_SIZE, INPUT_SIZE), Image.Resampling.BILINEAR)
    pixels = np.array(small, dtype=np.float32) / 255.0
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


class PhotoDataset(Dataset):
    def __init__(self, samples):
        self.images = [load_photo(path) for path, _ in samples]
        self.labels = [label for _, label in samples]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        label = self.labels[index]
        # parts lie on the belt in either direction
        if torch.rand(1).item() < 0.5:
            image = image.flip(-1)
        return image, label


def conv_block(in_channels, out_channels):
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
        nn.MaxPool2d(2),
    )


class PartNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            conv_block(3, 32),
            conv_block(32, 64),
            conv_block(64, 128),
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(128, len(PART_KINDS))

    def forward(self, images):
        features = self.pool(self.features(images))
        return self.classifier(features.flatten(1))


def train(samples):
    torch.manual_seed(SEED)
    loader = DataLoader(PhotoDataset(samples), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    model = PartNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    criterion = nn.CrossEntropyLoss()

    model.train()
    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for images, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
    return step_times, losses


def main():
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        samples = make_photos(folder)
        step_times, losses = train(samples)
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
