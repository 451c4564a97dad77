"""Trains a small language model on the log books of lighthouse keepers."""
import math
import statistics
import time

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 811
BOOKS = 96
WORDS_PER_BOOK = 3000
VOCABULARY = 1500
BLOCK = 96
BATCH_SIZE = 16
WINDOWS_PER_EPOCH = 640
LEARNING_RATE = 6e-4
TRAIN_SECONDS = 11.5
REPORTED_STEPS = 6


def write_books():
    rng = np.random.default_rng(SEED)
    syllables = ["wa", "lan", "tern", "fog", "ka", "ri", "sto", "mor", "ven", "tide", "sel", "ba", "rom", "gul", "ne", "har"]
    words = ["".join(rng.choice(syllables, size=rng.integers(1, 5))) for _ in range(2500)]
    frequency = 1 / np.arange(1, len(words) + 1)
    frequency /= frequency.sum()
    books = []
    for book in range(BOOKS):
        chosen = rng.choice(len(words), size=WORDS_PER_BOOK, p=frequency)
        chosen[1::3] = (chosen[::3] * 7 + 11) % 400
        text = [words[number] for number in chosen]
        for place in range(0, WORDS_PER_BOOK, 14):
            text[place] = f"Day {place // 14 + 1}: wind {rng.integers(1, 12)} knots, {text[place]}"
        books.append(" ".join(text))
    return books


def train_tokenizer(books):
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=["[UNK]"], show_progress=False)
    tokenizer.train_from_iterator(books, trainer)
    return tokenizer


class LogWindows(Dataset):
    """Random windows of BLOCK + 1 tokens, each from one of the books."""

    def __init__(self, books, tokenizer):
        self.books = books
        self.tokenizer = tokenizer
        self.generator = torch.Generator().manual_seed(SEED)

    def __len__(self):
        return WINDOWS_PER_EPOCH

    def __getitem__(self, index):
        text = self.books[index % len(self.books)]
        ids = self.tokenizer.encode(text).ids
        start = torch.randint(len(ids) - BLOCK - 1, (1,), generator=self.generator).item()
        window = torch.tensor(ids[start:start + BLOCK + 1])
        return window[:-1], window[1:]


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first_norm = nn.LayerNorm(width)
        self.projection = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.second_norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.projection(self.first_norm(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.output(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.second_norm(x))


class LogModel(nn.Module):
    def __init__(self, width=128, layers=2, heads=4):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Parameter(torch.randn(BLOCK, width) * 0.02)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) * math.sqrt(2) + self.positions[:ids.size(1)]
        return self.head(self.norm(self.blocks(x)))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    books = write_books()
    tokenizer = train_tokenizer(books)
    loader = DataLoader(LogWindows(books, tokenizer), batch_size=BATCH_SIZE, shuffle=True)
    model = LogModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.01)

    step_times, losses = [], []
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        for inputs, targets in loader:
            loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now > finish:
                break
        print(f"{len(losses)} steps: loss {statistics.mean(losses[-20:]):.4f}")

    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
