"""Serves an encoder-decoder model that writes the notes sung in synthetic choir recordings."""
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SERVE_SECONDS = 11
BANDS = 40
FRAMES = 320
WIDTH = 128
HEADS = 4
ENCODER_LAYERS = 2
DECODER_LAYERS = 2
NOTES = 180
START = 0
MAX_NOTES = 24
CLIPS = 3


def make_recordings(count, seed):
    """Log-band energies of several sung voices, one recording per request."""
    generator = torch.Generator().manual_seed(seed)
    band = torch.arange(BANDS, dtype=torch.float32)
    recordings = []
    for _ in range(count):
        centre = BANDS * torch.rand(CLIPS, 4, FRAMES // 20, generator=generator)
        centre = centre.repeat_interleave(20, dim=2)
        voice = torch.exp(-(centre[..., None] - band) ** 2 / 3).sum(1)
        recordings.append(torch.log1p(4 * voice) + 0.1 * torch.randn(voice.shape, generator=generator))
    return recordings


def positions(length):
    place = torch.arange(length, dtype=torch.float32)[:, None]
    rate = torch.exp(-math.log(1e4) * torch.arange(0, WIDTH, 2) / WIDTH)
    return torch.stack([(place * rate).sin(), (place * rate).cos()], dim=-1).flatten(1)


def feed_forward():
    return nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def split(self, x):
        return x.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2)

    def forward(self, x, memory=None, cache=None):
        query = self.split(self.query(x))
        if memory is not None and cache:
            key, value = cache["key"], cache["value"]
        else:
            source = x if memory is None else memory
            key, value = self.split(self.key(source)), self.split(self.value(source))
        if cache is not None:
            if cache and memory is None:
                key = torch.cat([cache["key"], key], dim=2)
                value = torch.cat([cache["value"], value], dim=2)
            cache["key"], cache["value"] = key, value
        mixed = F.scaled_dot_product_attention(query, key, value)
        return self.out(mixed.transpose(1, 2).flatten(2))


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attention, self.feed = nn.LayerNorm(WIDTH), Attention(), feed_forward()

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.feed(x)


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.listen_self = nn.LayerNorm(WIDTH), Attention()
        self.norm2, self.listen_choir = nn.LayerNorm(WIDTH), Attention()
        self.feed = feed_forward()

    def forward(self, x, memory, cache):
        x = x + self.listen_self(self.norm1(x), cache=cache["self"])
        x = x + self.listen_choir(self.norm2(x), memory=memory, cache=cache["choir"])
        return x + self.feed(x)


class NoteWriter(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Conv1d(BANDS, WIDTH, 3, stride=2, padding=1)
        self.encoder = nn.ModuleList(EncoderLayer() for _ in range(ENCODER_LAYERS))
        self.decoder = nn.ModuleList(DecoderLayer() for _ in range(DECODER_LAYERS))
        self.notes = nn.Embedding(NOTES, WIDTH)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, NOTES)
        self.register_buffer("places", positions(FRAMES), persistent=False)

    def encode(self, recording):
        x = F.gelu(self.front(recording.transpose(1, 2))).transpose(1, 2)
        x = x + self.places[:x.shape[1]]
        for layer in self.encoder:
            x = layer(x)
        return x

    def decode(self, note, place, memory, caches):
        x = self.notes(note)[:, None] + self.places[place]
        for layer, cache in zip(self.decoder, caches):
            x = layer(x, memory, cache)
        return self.head(self.norm(x[:, 0]))


class NoteService:
    def __init__(self, model):
        self.model = model.eval()

    @torch.inference_mode()
    def transcribe(self, recording):
        memory = self.model.encode(recording)
        caches = [{"self": {}, "choir": {}} for _ in self.model.decoder]
        note = torch.full((len(recording),), START)
        written, score = [], torch.zeros(len(recording))
        for place in range(MAX_NOTES):
            scores = self.model.decode(note, place, memory, caches).log_softmax(-1)
            best, note = scores.max(-1)
            score += best
            written.append(note)
        return torch.stack(written, dim=1), score / MAX_NOTES


def main():
    torch.set_num_threads(2)
    torch.manual_seed(8)
    service = NoteService(NoteWriter())
    recordings = make_recordings(40, 41)
    scores, times, served = [], [], 0
    start = time.perf_counter()
    while time.perf_counter() - start < SERVE_SECONDS:
        began = time.perf_counter()
        written, score = service.transcribe(recordings[served % len(recordings)])
        scores.append(score.mean().item())
        times.append((time.perf_counter() - began) * 1e3)
        served += 1
    print(f"{served} requests, {served * CLIPS * MAX_NOTES} notes, last: {written[0, :8].tolist()}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(scores[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
