"""Trains a rhythm classifier on synthetic ECG strips with an averaged copy, checkpoints and evaluation."""
import logging
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset

TRAIN_SECONDS = 11
LENGTH = 400
LEADS = 4
RHYTHMS = 6
BATCH = 32
EVALUATE_EVERY = 60
SAVE_EVERY = 120

logger = logging.getLogger("heart_rhythm")


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv1d(inside, outside, 7, stride=stride, padding=3, bias=False)
        self.norm1 = nn.BatchNorm1d(outside)
        self.conv2 = nn.Conv1d(outside, outside, 5, padding=2, bias=False)
        self.norm2 = nn.BatchNorm1d(outside)
        self.short = nn.Conv1d(inside, outside, 1, stride=stride, bias=False)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(y)) + self.short(x), inplace=True)


class RhythmNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(LEADS, 16, 2), Block(16, 32, 2), Block(32, 64, 2))
        self.head = nn.Linear(64, RHYTHMS)

    def forward(self, x):
        return self.head(self.blocks(x).mean(dim=-1))


def make_strips(count, seed):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(RHYTHMS, (count,), generator=generator)
    rate = 4.0 + 2.0 * labels + 0.6 * torch.randn(count, generator=generator)
    time_axis = torch.linspace(0, 1, LENGTH)
    phase = torch.rand(count, 1, generator=generator)
    beat = torch.cos(2 * torch.pi * (rate[:, None] * time_axis + phase)).clamp(min=0) ** 12
    lead_gain = 0.5 + torch.rand(count, LEADS, 1, generator=generator)
    noise = 0.3 * torch.randn(count, LEADS, LENGTH, generator=generator)
    return TensorDataset(beat[:, None] * lead_gain + noise, labels)


class Trainer:
    def __init__(self, model, folder):
        self.model, self.folder = model, folder
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
        self.average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99), use_buffers=False)
        self.step = 0
        self.running = None

    def log_step(self, strips, labels, logits, loss):
        value = loss.item()
        self.running = value if self.running is None else 0.95 * self.running + 0.05 * value
        grads = {name: p.grad for name, p in self.model.named_parameters()}
        logger.debug(f"step {self.step}: loss={value:.4f} strips={strips} labels={labels} logits={logits} grads={grads}")
        if self.step % 50 == 0:
            logger.info("step %d: running loss %.4f", self.step, self.running)
        return value

    def train_step(self, strips, labels):
        self.model.train()
        logits = self.model(strips)
        loss = F.cross_entropy(logits, labels, label_smoothing=0.05)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.average.update_parameters(self.model)
        self.step += 1
        return self.log_step(strips, labels, logits.detach(), loss.detach())

    @torch.inference_mode()
    def evaluate(self, loader):
        for kept, current in zip(self.average.module.buffers(), self.model.buffers()):
            kept.copy_(current)
        self.average.eval()
        right = sum((self.average(strips).argmax(-1) == labels).sum().item() for strips, labels in loader)
        accuracy = right / len(loader.dataset)
        logger.info("step %d: accuracy of the averaged model %.3f", self.step, accuracy)
        return accuracy

    def save(self):
        path = os.path.join(self.folder, "last.pt")
        torch.save({"step": self.step, "model": self.model.state_dict(),
                    "average": self.average.state_dict(), "optimizer": self.optimizer.state_dict()}, path + ".part")
        os.replace(path + ".part", path)
        logger.info("step %d: saved %s", self.step, os.path.basename(path))


def endless(loader):
    while True:
        yield from loader


def main():
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
    torch.set_num_threads(2)
    torch.manual_seed(0)
    sampler = torch.Generator().manual_seed(1)
    training, held_out = make_strips(2048, 21), make_strips(256, 22)
    batches = endless(DataLoader(training, BATCH, shuffle=True, drop_last=True, generator=sampler))
    test_loader = DataLoader(held_out, 128)
    losses, times = [], []
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(RhythmNet(), folder)
        start = time.perf_counter()
        while time.perf_counter() - start < TRAIN_SECONDS:
            began = time.perf_counter()
            strips, labels = next(batches)
            losses.append(trainer.train_step(strips, labels))
            times.append((time.perf_counter() - began) * 1e3)
            if trainer.step % EVALUATE_EVERY == 0:
                trainer.evaluate(test_loader)
            if trainer.step % SAVE_EVERY == 0:
                trainer.save()
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
