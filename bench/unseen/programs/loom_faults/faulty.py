"""Fine-tunes a deep mixer on sensor windows of weaving looms; rates by stage, warm-up, clipping."""
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
TICKS = 32
SENSORS = 24
FAULTS = 5
WINDOWS = 2048
BATCH = 16
DEPTH = 16
BASE_RATE = 1e-3
STAGES = 4
LAYER_DECAY = 0.75
WEIGHT_DECAY = 0.05


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(SENSORS), nn.LayerNorm(SENSORS)
        self.across_time = nn.Linear(TICKS, TICKS)
        self.widen = nn.Linear(SENSORS, 2 * SENSORS)
        self.narrow = nn.Linear(2 * SENSORS, SENSORS)
        self.scale1 = nn.Parameter(torch.full((SENSORS,), 0.2))
        self.scale2 = nn.Parameter(torch.full((SENSORS,), 0.2))

    def forward(self, x):
        x = x + self.scale1 * F.relu(self.across_time(self.norm1(x).transpose(1, 2))).transpose(1, 2)
        return x + self.scale2 * self.narrow(F.relu(self.widen(self.norm2(x))))


class LoomMixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(SENSORS, SENSORS)
        self.blocks = nn.ModuleList([Block() for _ in range(DEPTH)])
        self.norm = nn.LayerNorm(SENSORS)
        self.head = nn.Linear(SENSORS, FAULTS)

    def forward(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(dim=1))


def layer_rate(name):
    """Learning rate of a parameter: the nearer to the input, the smaller."""
    if name.startswith(("head", "norm")):
        return BASE_RATE
    stage = int(name.split(".")[1]) * STAGES // DEPTH + 1 if name.startswith("blocks") else 0
    return BASE_RATE * LAYER_DECAY ** (STAGES + 1 - stage)


def parameter_groups(model):
    groups = []
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        decay = 0.0 if parameter.ndim == 1 or name.endswith("bias") else WEIGHT_DECAY
        groups.append({"params": [parameter], "lr": layer_rate(name), "weight_decay": decay})
    return groups


def warm_up(step, warm=100, total=4000):
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warm) / (total - warm))))


def record(seed):
    """Windows of hum of the shafts; a fault changes the hum of a few sensors."""
    generator = torch.Generator().manual_seed(seed)
    faults = torch.randint(FAULTS, (WINDOWS,), generator=generator)
    ticks = torch.arange(TICKS).float()[None, :, None]
    speed = 0.5 + 0.1 * torch.rand(WINDOWS, 1, 1, generator=generator)
    phase = torch.linspace(0, math.pi, SENSORS)
    hum = torch.sin(speed * ticks + phase)
    beat = torch.sin((speed * (1 + faults[:, None, None])) * ticks)
    near = torch.exp(-((torch.arange(SENSORS) - 4.0 * faults[:, None] - 3) / 2.0) ** 2)
    noise = 0.5 * torch.randn(WINDOWS, TICKS, SENSORS, generator=generator)
    return hum + 0.8 * beat * near[:, None] + noise, faults


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(parameter_groups(model), lr=BASE_RATE, betas=(0.9, 0.98), foreach=True)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, warm_up)
        self.parameters = [p for p in model.parameters() if p.requires_grad]

    def step(self, windows, faults):
        loss = F.cross_entropy(self.model(windows), faults, label_smoothing=0.05)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0, foreach=True)
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    windows, faults = record(31)
    sampler = torch.Generator().manual_seed(32)
    trainer = Trainer(LoomMixer())
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        chosen = torch.randint(WINDOWS, (BATCH,), generator=sampler)
        losses.append(trainer.step(windows[chosen], faults[chosen]))
        times.append((time.perf_counter() - began) * 1e3)
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
