"""Speaker verification: x-vector style encoder trained with an additive angular margin."""
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
SPEAKERS = 12000
MELS = 40
FRAMES = 48
EMBEDDING = 64
BATCH_SIZE = 128


class UtterancePool:
    """Synthetic log-mel utterances: a voice template for each speaker plus channel noise."""

    def __init__(self):
        generator = torch.Generator().manual_seed(31)
        self.voice = torch.randn(SPEAKERS, MELS, generator=generator)
        self.rhythm = torch.rand(SPEAKERS, generator=generator)
        self.generator = generator
        self.clock = torch.arange(FRAMES, dtype=torch.float32)

    def draw(self, count):
        speaker = torch.randint(SPEAKERS, (count,), generator=self.generator)
        beat = torch.sin(self.clock[None, :] * (0.1 + self.rhythm[speaker, None]))
        mel = self.voice[speaker][:, :, None] * (1 + 0.3 * beat[:, None, :])
        noise = torch.randn(count, MELS, FRAMES, generator=self.generator)
        return mel + 0.5 * noise, speaker


class StatsPool(nn.Module):
    def forward(self, x):
        return torch.cat([x.mean(dim=2), x.std(dim=2)], dim=1)


class SpeakerEncoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.frames = nn.Sequential(
            nn.Conv1d(MELS, width, 5, stride=2, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 3, padding=1), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 3, padding=1), nn.BatchNorm1d(width), nn.ReLU(),
        )
        self.pool = StatsPool()
        self.project = nn.Linear(2 * width, EMBEDDING)

    def forward(self, mel):
        return self.project(self.pool(self.frames(mel)))


class AngularMarginHead(nn.Module):
    def __init__(self, in_features, out_features, scale=30.0, margin=0.3):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        nn.init.xavier_uniform_(self.weight)
        self.scale = scale
        self.cos_m = math.cos(margin)
        self.sin_m = math.sin(margin)
        self.threshold = math.cos(math.pi - margin)
        self.fallback = math.sin(math.pi - margin) * margin

    def forward(self, embedding, label):
        cosine = F.linear(F.normalize(embedding), F.normalize(self.weight))
        target = cosine.gather(1, label.view(-1, 1))
        sine = torch.sqrt((1.0 - target.pow(2)).clamp(min=1e-7))
        phi = target * self.cos_m - sine * self.sin_m
        phi = torch.where(target > self.threshold, phi, target - self.fallback)
        output = cosine.scatter(1, label.view(-1, 1), phi)
        return output * self.scale


def train_step(encoder, head, optimizer, mel, speaker):
    optimizer.zero_grad()
    logits = head(encoder(mel), speaker)
    loss = F.cross_entropy(logits, speaker)
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def verification_gap(encoder, pool, pairs=64):
    encoder.eval()
    mel, speaker = pool.draw(pairs)
    first = F.normalize(encoder(mel))
    second = F.normalize(encoder(mel + 0.3 * torch.randn_like(mel)))
    same = (first * second).sum(dim=1).mean()
    other = (first * second.roll(1, dims=0)).sum(dim=1).mean()
    encoder.train()
    return (same - other).item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(11)
    pool = UtterancePool()
    encoder = SpeakerEncoder()
    head = AngularMarginHead(EMBEDDING, SPEAKERS)
    parameters = list(encoder.parameters()) + list(head.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.01, momentum=0.9, weight_decay=1e-4)
    losses, times = [], []
    started = time.perf_counter()
    while time.perf_counter() - started < TRAIN_SECONDS:
        begin = time.perf_counter()
        mel, speaker = pool.draw(BATCH_SIZE)
        losses.append(train_step(encoder, head, optimizer, mel, speaker))
        times.append((time.perf_counter() - begin) * 1000)
    print(f"steps={len(times)} last_loss={losses[-1]:.3f} gap={verification_gap(encoder, pool):.3f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
