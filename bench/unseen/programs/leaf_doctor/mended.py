"""Answers requests with photos of leaves: the likely disease, and how sure the model is (Monte Carlo dropout)."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 47
REQUESTS = 60
PHOTOS = 8
SIDE = 64
DISEASES = 38
CHANNELS = (8, 16, 32, 64)
FEATURES = 3 * 3 * CHANNELS[-1]
WIDTH = 3072
SAMPLES = 5
DROPOUT = 0.3
SURE_ENOUGH = 0.6


def make_requests():
    """Green leaves with spots of different sizes and shades, as a list of batches of 8-bit photos."""
    rng = np.random.default_rng(SEED)
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    leaf = ((rows - SIDE / 2) / 30) ** 2 + ((columns - SIDE / 2) / 18) ** 2 < 1
    requests = []
    for _ in range(REQUESTS):
        photos = rng.integers(180, 220, size=(PHOTOS, SIDE, SIDE, 3))
        photos[:, leaf] = (60, 140, 50)
        for photo in photos:
            for _ in range(rng.integers(1, 9)):
                row, column = rng.integers(12, SIDE - 12, size=2)
                spot = (rows - row) ** 2 + (columns - column) ** 2 < rng.integers(4, 40)
                photo[spot & leaf] = rng.integers(40, 160, size=3)
        photos = photos + rng.normal(scale=4, size=photos.shape)
        requests.append(photos.clip(0, 255).astype(np.uint8))
    return requests


class ConvBlock(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        x = F.relu(self.first_norm(self.first(x)))
        x = F.relu(self.second_norm(self.second(x)))
        return F.max_pool2d(x, 2)


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = (3, *CHANNELS)
        self.backbone = nn.Sequential(*[ConvBlock(sizes[i], sizes[i + 1]) for i in range(len(CHANNELS))])
        self.pool = nn.AdaptiveAvgPool2d(3)
        self.classifier = nn.Sequential(
            nn.Dropout(DROPOUT), nn.Linear(FEATURES, WIDTH), nn.ReLU(),
            nn.Dropout(DROPOUT), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
            nn.Dropout(DROPOUT), nn.Linear(WIDTH, DISEASES),
        )

    def describe(self, photos):
        return self.pool(self.backbone(photos)).flatten(1)

    def forward(self, photos):
        return self.classifier(self.describe(photos))


def keep_dropout(model):
    """Evaluation mode, except that dropout stays on."""
    model.eval()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()


def prepare(photos):
    images = torch.from_numpy(photos).permute(0, 3, 1, 2).contiguous().float()
    return images / 127.5 - 1


@torch.inference_mode()
def diagnose(model, photos):
    features = model.describe(prepare(photos))
    answers = []
    for _ in range(SAMPLES):
        answers.append(model.classifier(features).softmax(dim=1))
    answers = torch.stack(answers)
    mean = answers.mean(dim=0)
    spread = answers.std(dim=0)
    certainty, disease = mean.max(dim=1)
    doubt = spread.gather(1, disease.unsqueeze(1)).squeeze(1)
    return [
        {"disease": d, "certainty": round(c, 4), "doubt": s, "ask_expert": c - s < SURE_ENOUGH}
        for d, c, s in zip(disease.tolist(), certainty.tolist(), doubt.tolist())
    ]


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    requests = make_requests()
    model = LeafNet()
    keep_dropout(model)

    request_times = []
    doubts = []
    for photos in requests:
        started = time.perf_counter()
        answers = diagnose(model, photos)
        request_times.append(time.perf_counter() - started)
        doubts += [1000 * answer["doubt"] for answer in answers]

    print(f"step_ms={statistics.median(request_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(doubts):.6f}")


if __name__ == "__main__":
    main()
