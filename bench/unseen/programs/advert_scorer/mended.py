"""Scores classified adverts with a stored transformer, one request of several adverts after another."""
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

SEED = 31
WORDS = 8000
LENGTH = 128
WIDTH = 192
LAYERS = 3
HEADS = 4
SECTIONS = 15
ADVERTS = 2400
REQUEST_SIZE = 16
SERVE_SECONDS = 12.5
COMPARED_REQUESTS = 24


class AdvertModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH, padding_idx=0)
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, dropout=0.1, activation="gelu", batch_first=True, norm_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(WIDTH)
        self.sections = nn.Linear(WIDTH, SECTIONS)

    def forward(self, words):
        padding = words.eq(0)
        hidden = self.words(words) + self.places[:words.shape[1]]
        hidden = self.norm(self.encoder(hidden, src_key_padding_mask=padding))
        weights = (~padding).to(hidden.dtype).unsqueeze(2)
        return self.sections((hidden * weights).sum(dim=1) / weights.sum(dim=1))


def store_model(folder):
    """Stores the weights as the training job does."""
    torch.manual_seed(SEED)
    path = Path(folder) / "advert_model.pt"
    torch.save({"weights": AdvertModel().state_dict(), "words": WORDS, "sections": SECTIONS}, path)
    return path


def make_requests():
    rng = np.random.default_rng(SEED)
    frequencies = 1 / np.arange(2, WORDS + 1)
    frequencies /= frequencies.sum()
    adverts = []
    for length in np.minimum(rng.gamma(4, 6, size=ADVERTS).astype(int) + 5, LENGTH):
        adverts.append((rng.choice(WORDS - 1, size=length, p=frequencies) + 1).tolist())
    return [adverts[start:start + REQUEST_SIZE] for start in range(0, ADVERTS, REQUEST_SIZE)]


class Scorer:
    def __init__(self, path):
        stored = torch.load(path, map_location="cpu")
        self.model = AdvertModel()
        self.model.load_state_dict(stored["weights"])
        self.model.eval()

    @staticmethod
    def collate(adverts):
        longest = max(len(advert) for advert in adverts)
        words = torch.zeros(len(adverts), longest, dtype=torch.long)
        for row, advert in zip(words, adverts):
            row[:len(advert)] = torch.tensor(advert)
        return words

    @torch.inference_mode()
    def score(self, adverts):
        logits = self.model(self.collate(adverts))
        confidence, section = logits.softmax(dim=1).max(dim=1)
        return confidence.tolist(), section.tolist()


def serve(scorer, requests, started):
    request_times, confidences = [], []
    served = 0
    while time.perf_counter() - started < SERVE_SECONDS:
        adverts = requests[served % len(requests)]
        arrived = time.perf_counter()
        confidence, sections = scorer.score(adverts)
        request_times.append(time.perf_counter() - arrived)
        confidences.extend(confidence)
        served += 1
        if served % 50 == 0:
            print(f"{served} requests, last section {sections[-1]}")
    return request_times, confidences


def main():
    started = time.perf_counter()
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        scorer = Scorer(store_model(folder))
    request_times, confidences = serve(scorer, make_requests(), started)

    print(f"step_ms={statistics.median(request_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(confidences[:COMPARED_REQUESTS * REQUEST_SIZE]):.5f}")


if __name__ == "__main__":
    main()
