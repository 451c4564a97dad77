"""Train a small language model on maintenance notes, with our own tokeniser."""
import random
import statistics
import time
from collections import Counter

import torch
from torch import nn
from torch.nn import functional as F

SEED = 11
NUM_NOTES = 320
NUM_MERGES = 60
CONTEXT = 128
BATCH_SIZE = 16
EPOCHS = 3
MODEL_DIM = 96
NUM_HEADS = 4
NUM_LAYERS = 2
LEARNING_RATE = 1e-3
PAD = 0

WORDS = """pump motor valve sensor bearing filter gasket seal shaft coupling belt
pressure temperature vibration noise leak current voltage alarm sample oil water
air hose tank line panel cable switch relay fuse was is not the and after before
during again on off low high normal replaced cleaned checked tightened adjusted
found reported stopped started tested ordered worn broken loose blocked dirty
shift operator night morning weekly planned spare part needed done open closed""".split()


def make_notes():
    rng = random.Random(SEED)
    weights = [1.0 / (rank + 5) for rank in range(len(WORDS))]
    words = WORDS[:]
    rng.shuffle(words)
    notes = []
    for _ in range(NUM_NOTES):
        count = rng.randint(34, 42)
        notes.append(" ".join(rng.choices(words, weights=weights, k=count)) + ".")
    return notes


class MergeTokenizer:
    """Characters, plus the most frequent pairs of neighbours merged into one token."""

    def __init__(self, texts, num_merges):
        characters = sorted(set("".join(texts)))
        pieces = list(" ".join(texts))
        self.merges = []
        for _ in range(num_merges):
            counts = Counter(zip(pieces, pieces[1:]))
            pair = counts.most_common(1)[0][0]
            self.merges.append(pair)
            pieces = self.apply_merge(pieces, pair)
        vocabulary = ["<pad>"] + characters + [left + right for left, right in self.merges]
        self.ids = {piece: number for number, piece in enumerate(vocabulary)}
        self.size = len(vocabulary)

    @staticmethod
    def apply_merge(pieces, pair):
        left, right = pair
        merged = []
        i = 0
        while i < len(pieces):
            if i + 1 < len(pieces) and pieces[i] == left and pieces[i + 1] == right:
                merged.append(left + right)
                i += 2
            else:
                merged.append(pieces[i])
                i += 1
        return merged

    def encode(self, text):
        pieces = list(text)
        for pair in self.merges:
            pieces = self.apply_merge(pieces, pair)
        return [self.ids[piece] for piece in pieces]


def make_batch(encoded_notes):
    """Return inputs and targets, padded to the context length."""
    batch = torch.full((len(encoded_notes), CONTEXT + 1), PAD)
    for row, note_ids in enumerate(encoded_notes):
        ids = note_ids[:CONTEXT + 1]
        batch[row, :len(ids)] = torch.tensor(ids)
    return batch[:, :-1], batch[:, 1:]


class NoteModel(nn.Module):
    def __init__(self, vocabulary_size):
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary_size, MODEL_DIM, padding_idx=PAD)
        self.position_embedding = nn.Embedding(CONTEXT, MODEL_DIM)
        layer = nn.TransformerEncoderLayer(
            MODEL_DIM, NUM_HEADS, dim_feedforward=4 * MODEL_DIM,
            dropout=0.0, activation="gelu", batch_first=True, norm_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, NUM_LAYERS, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(MODEL_DIM)
        self.head = nn.Linear(MODEL_DIM, vocabulary_size)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(CONTEXT))
        self.register_buffer("positions", torch.arange(CONTEXT))

    def forward(self, tokens):
        x = self.token_embedding(tokens) + self.position_embedding(self.positions)
        x = self.encoder(x, mask=self.mask, is_causal=True)
        return self.head(self.norm(x))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    notes = make_notes()
    tokenizer = MergeTokenizer(notes, NUM_MERGES)
    encoded_notes = [tokenizer.encode(note) for note in notes]
    model = NoteModel(tokenizer.size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

    model.train()
    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        order = torch.randperm(len(notes)).tolist()
        for start in range(0, len(order), BATCH_SIZE):
            chosen = [encoded_notes[i] for i in order[start:start + BATCH_SIZE]]
            inputs, targets = make_batch(chosen)
            optimizer.zero_grad()
            logits = model(inputs)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
