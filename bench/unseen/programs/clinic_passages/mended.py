"""Embeds the passages of a clinic's handbook and finds the passages that answer questions."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn

SEED = 37
VOCABULARY = 6000
PASSAGES = 3000
PASSAGE_WORDS = 32
QUESTION_WORDS = 24
WIDTH = 192
QUESTIONS = 16
REQUESTS = 150
TOP = 5
EMBED_BATCH = 128


def make_handbook(rng):
    """Every passage speaks of its chapter's words, and of some that occur everywhere."""
    chapters = rng.integers(60, size=PASSAGES)
    words = rng.integers(2000, VOCABULARY, size=(60, 150))
    common = np.minimum(rng.zipf(1.3, size=(PASSAGES, PASSAGE_WORDS)), 1999)
    special = words[chapters[:, None], rng.integers(150, size=(PASSAGES, PASSAGE_WORDS))]
    tokens = np.where(rng.random((PASSAGES, PASSAGE_WORDS)) < 0.5, common, special)
    pages = np.sort(rng.integers(1, 900, size=PASSAGES))
    return pd.DataFrame({"page": pages, "chapter": chapters, "tokens": list(tokens)})


def make_questions(handbook, rng):
    """A question takes up some words of the passage that answers it."""
    answers = rng.integers(PASSAGES, size=QUESTIONS)
    questions = np.empty((QUESTIONS, QUESTION_WORDS), dtype=np.int64)
    for row, answer in enumerate(answers):
        questions[row] = rng.choice(handbook["tokens"][answer], size=QUESTION_WORDS, replace=False)
    return questions, answers


class TextEncoder(nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, 6, dim_feedforward=3 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    @torch.inference_mode()
    def embed(self, tokens):
        hidden = self.encoder(self.embedding(torch.from_numpy(tokens)))
        return nn.functional.normalize(hidden.mean(dim=1), dim=1).numpy()


class PassageIndex:
    """The handbook's table with an embedding for each passage, and the search in it."""

    def __init__(self, handbook, encoder):
        self.encoder = encoder
        tokens = np.stack(handbook["tokens"].to_list())
        vectors = []
        for start in range(0, len(tokens), EMBED_BATCH):
            vectors.extend(encoder.embed(tokens[start:start + EMBED_BATCH]))
        self.handbook = handbook.assign(embedding=vectors)
        self.matrix = np.stack(vectors)

    def similarities(self, question):
        return self.matrix @ question

    def search(self, questions):
        found = []
        for question in self.encoder.embed(questions):
            scores = self.similarities(question)
            top = np.argpartition(-scores, TOP)[:TOP]
            found.append(self.handbook.iloc[top].assign(score=scores[top]))
        return found


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    handbook = make_handbook(rng)
    index = PassageIndex(handbook, TextEncoder().eval())

    step_times = []
    hits = 0
    scores = []
    for request in range(REQUESTS):
        questions, answers = make_questions(handbook, rng)
        start = time.perf_counter()
        found = index.search(questions)
        step_times.append(time.perf_counter() - start)
        hits += sum(answer in passages.index for answer, passages in zip(answers, found))
        scores.extend(passages["score"].max() for passages in found)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"found={hits / (REQUESTS * QUESTIONS):.4f}")
    print(f"result={statistics.mean(map(float, scores)):.6f}")


if __name__ == "__main__":
    main()
