"""Evaluates how well a text encoder finds songs in a catalogue from what people hum about them."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 107
SONGS = 2000
MOODS = 60
WORDS = 2500
QUESTION_LENGTH = 24
WIDTH = 192
BATCH_SIZE = 64
BATCHES = 160


class QuestionEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(torch.randn(QUESTION_LENGTH, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(
            WIDTH, 6, 4 * WIDTH, dropout=0.1, activation="gelu", batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, questions):
        x = self.body(self.words(questions) + self.places)
        return F.normalize(self.norm(x).mean(dim=1), dim=1)


class Catalogue:
    """The vectors of all songs and the moods that each song has."""

    def __init__(self, encoder, generator):
        self.moods = torch.rand(SONGS, MOODS, generator=generator) < 0.05
        self.typical = torch.randint(WORDS, (MOODS, 12), generator=generator)
        self.generator = generator
        self.vectors = self.encode_lyrics(encoder)

    def draw_words(self, moods):
        picks = torch.randint(12, (len(moods), QUESTION_LENGTH), generator=self.generator)
        typical = self.typical[moods.unsqueeze(1), picks]
        noise = torch.randint(WORDS, typical.shape, generator=self.generator)
        replaced = torch.rand(typical.shape, generator=self.generator) < 0.75
        return torch.where(replaced, noise, typical)

    @torch.inference_mode()
    def encode_lyrics(self, encoder):
        main_mood = torch.where(self.moods, torch.rand(self.moods.shape, generator=self.generator), 0.0).argmax(dim=1)
        lyrics = self.draw_words(main_mood)
        return torch.cat([encoder(part) for part in lyrics.split(500)])

    def questions(self):
        for _ in range(BATCHES):
            moods = torch.randint(MOODS, (BATCH_SIZE,), generator=self.generator)
            yield self.draw_words(moods), self.moods[:, moods].T


class RetrievalScore:
    """Mean average precision, and the share of questions whose first ten songs contain a right one."""

    def __init__(self):
        self.precision_sum = 0.0
        self.found = 0
        self.count = 0

    def update(self, similarities, relevant):
        first = similarities.topk(10, dim=1).indices
        self.found += int(relevant.gather(1, first).any(dim=1).sum())
        order = similarities.argsort(dim=1, descending=True)
        hits = relevant.gather(1, order).double()
        precision = hits.cumsum(dim=1) / torch.arange(1, SONGS + 1)
        self.precision_sum += ((precision * hits).sum(dim=1) / hits.sum(dim=1)).sum().item()
        self.count += len(relevant)

    @property
    def mean_average_precision(self):
        return self.precision_sum / self.count

    @property
    def hit_rate(self):
        return self.found / self.count


@torch.inference_mode()
def evaluate(encoder, catalogue, score):
    step_times = []
    last = time.perf_counter()
    for questions, relevant in catalogue.questions():
        similarities = encoder(questions) @ catalogue.vectors.T
        score.update(similarities, relevant)
        now = time.perf_counter()
        step_times.append(now - last)
        last = now
    return step_times


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    encoder = QuestionEncoder().eval()
    catalogue = Catalogue(encoder, generator)
    score = RetrievalScore()
    step_times = evaluate(encoder, catalogue, score)

    print(f"{score.count} questions, hit rate {score.hit_rate:.3f}")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={score.mean_average_precision:.6f}")


if __name__ == "__main__":
    main()
