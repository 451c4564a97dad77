"""Training of a loan default model: EMA weights, evaluation, checkpoints and a recovery record."""
import os
import statistics
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

TRAIN_SECONDS = 11
NUM_LOANS, NUM_HELD_OUT = 1_500_000, 20_000
FEATURES = 24
BATCH = 1024
EVAL_EVERY, CHECKPOINT_EVERY = 100, 200


def make_loans(count, seed):
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(count, FEATURES, generator=gen)
    risk = 0.8 * x[:, 0] * x[:, 1] - x[:, 2].abs() + 0.6 * x[:, 3] + 0.3 * x[:, 4].square()
    y = (risk + 0.5 * torch.randn(count, generator=gen) > 0.4).float()
    return x, y


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, 2 * width)
        self.outer = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.outer(F.relu(self.inner(self.norm(x))))


class DefaultModel(nn.Module):
    def __init__(self, width=160, blocks=2):
        super().__init__()
        self.enter = nn.Linear(FEATURES, width)
        self.blocks = nn.Sequential(*[ResidualBlock(width) for _ in range(blocks)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.blocks(self.enter(x))).squeeze(-1)


class EpochSampler:
    """Walks through a fixed permutation of the loans; can be resumed in the middle of an epoch."""

    def __init__(self, count, batch, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.count, self.batch = count, batch
        self.epoch = -1
        self.start_epoch()

    def start_epoch(self):
        self.epoch += 1
        self.cursor = 0
        self.order = torch.randperm(self.count, generator=self.gen)

    def next(self):
        if self.cursor + self.batch > self.count:
            self.start_epoch()
        rows = self.order[self.cursor:self.cursor + self.batch]
        self.cursor += self.batch
        return rows

    def position(self):
        return {"epoch": self.epoch, "cursor": self.cursor}


class RunFolder:
    def __init__(self, path):
        self.path = path

    def write(self, name, content):
        target = os.path.join(self.path, name)
        torch.save(content, target + ".part")
        os.replace(target + ".part", target)

    def record_step(self, step, rows, loss, sampler):
        """What the last step has consumed, so that a preempted run leaves no loan used twice."""
        self.write("last_step.pt", {"step": step, "rows": rows.clone(), "loss": loss, **sampler.position()})

    def checkpoint(self, step, model, ema, optimizer):
        self.write("checkpoint.pt", {"step": step, "model": model.state_dict(), "ema": ema.state_dict(),
                                     "optimizer": optimizer.state_dict()})


@torch.inference_mode()
def ranking_quality(model, x, y):
    """Area under the ROC curve."""
    order = model(x).argsort()
    ranks = torch.empty(len(y))
    ranks[order] = torch.arange(1, len(y) + 1, dtype=torch.float32)
    positives = y.sum()
    negatives = len(y) - positives
    return ((ranks[y > 0].double().sum() - positives * (positives + 1) / 2) / (positives * negatives)).item()


def train_step(model, ema, optimizer, x, y):
    loss = F.binary_cross_entropy_with_logits(model(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    ema.update_parameters(model)
    return loss.item()


def main():
    torch.manual_seed(3)
    torch.set_num_threads(2)
    x, y = make_loans(NUM_LOANS + NUM_HELD_OUT, seed=21)
    held_x, held_y = x[NUM_LOANS:], y[NUM_LOANS:]
    model = DefaultModel()
    ema = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    sampler = EpochSampler(NUM_LOANS, BATCH, seed=22)

    losses, times, quality = [], [], []
    with tempfile.TemporaryDirectory() as path:
        folder = RunFolder(path)
        start = time.perf_counter()
        while time.perf_counter() - start < TRAIN_SECONDS:
            step = len(times) + 1
            begin = time.perf_counter()
            rows = sampler.next()
            losses.append(train_step(model, ema, optimizer, x[rows], y[rows]))
            folder.record_step(step, rows, losses[-1], sampler)
            if step % CHECKPOINT_EVERY == 0:
                folder.checkpoint(step, model, ema, optimizer)
            if step % EVAL_EVERY == 0:
                quality.append(ranking_quality(ema, held_x, held_y))
            times.append(time.perf_counter() - begin)

    print(f"steps={len(times)} last_auc={quality[-1] if quality else float('nan'):.3f}")
    print(f"step_ms={statistics.median(times[3:]) * 1000:.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
