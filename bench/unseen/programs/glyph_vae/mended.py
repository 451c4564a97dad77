"""Learns a latent space of small rendered glyphs with a convolutional variational autoencoder."""
import json
import os
import statistics
import tempfile
import time
from functools import partial

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 62
GLYPHS = 4096
SIZE = 32
LATENT = 24
BATCH_SIZE = 64
STEPS = 240
REPORT_EVERY = 25
LEARNING_RATE = 1e-3


def make_glyphs():
    """Glyphs of a few soft strokes of different slant, place and thickness."""
    generator = torch.Generator().manual_seed(SEED)
    line = torch.linspace(-1, 1, SIZE)
    y, x = torch.meshgrid(line, line, indexing="ij")
    glyphs = torch.zeros(GLYPHS, SIZE, SIZE)
    for stroke in range(3):
        angle, shift, length, thickness = torch.rand(4, GLYPHS, 1, 1, generator=generator)
        angle = angle * torch.pi
        across = x * angle.sin() - y * angle.cos() - (shift - 0.5)
        along = x * angle.cos() + y * angle.sin()
        ink = torch.exp(-(across / (0.06 + 0.1 * thickness)) ** 2)
        glyphs = torch.maximum(glyphs, ink * (along.abs() < 0.3 + 0.5 * length))
    return glyphs.unsqueeze(1)


class GradientReport:
    """Histograms of the parameters' gradients, one line of JSON for each report."""

    def __init__(self, model, path, bins=64):
        self.path = path
        self.bins = bins
        self.step = 0
        self.latest = {}
        for name, parameter in model.named_parameters():
            parameter.register_hook(partial(self.record, name))

    def record(self, name, gradient):
        if self.step % REPORT_EVERY != 0:
            return
        values = gradient.detach().numpy().ravel()
        counts, edges = np.histogram(values, bins=self.bins)
        self.latest[name] = {
            "counts": counts.tolist(),
            "from": float(edges[0]),
            "to": float(edges[-1]),
            "std": float(values.std()),
        }

    def end_step(self):
        if self.step % REPORT_EVERY == 0:
            with open(self.path, "a") as file:
                file.write(json.dumps({"step": self.step, "gradients": self.latest}) + "\n")
        self.step += 1


class GlyphVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 32, 4, stride=2, padding=1), nn.SiLU(),
            nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.SiLU(),
            nn.Flatten(), nn.Linear(64 * 8 * 8, 256), nn.SiLU(),
        )
        self.to_mean = nn.Linear(256, LATENT)
        self.to_log_variance = nn.Linear(256, LATENT)
        self.decoder = nn.Sequential(
            nn.Linear(LATENT, 256), nn.SiLU(), nn.Linear(256, 64 * 8 * 8), nn.SiLU(),
            nn.Unflatten(1, (64, 8, 8)),
            nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.SiLU(),
            nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1),
        )

    def forward(self, glyphs):
        hidden = self.encoder(glyphs)
        mean, log_variance = self.to_mean(hidden), self.to_log_variance(hidden)
        latent = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(latent), mean, log_variance


def negative_elbo(logits, glyphs, mean, log_variance):
    reconstruction = F.binary_cross_entropy_with_logits(logits, glyphs, reduction="sum")
    divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum()
    return (reconstruction + divergence) / len(glyphs)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    glyphs = make_glyphs()
    model = GlyphVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    step_times = []
    losses = []
    with tempfile.TemporaryDirectory() as folder:
        report = GradientReport(model, os.path.join(folder, "gradients.jsonl"))
        last = time.perf_counter()
        for step in range(STEPS):
            batch = glyphs[torch.randint(GLYPHS, (BATCH_SIZE,))]
            logits, mean, log_variance = model(batch)
            loss = negative_elbo(logits, batch, mean, log_variance)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            report.end_step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-20:]):.6f}")


if __name__ == "__main__":
    main()
