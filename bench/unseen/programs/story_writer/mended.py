"""Continues the beginnings of children's stories with a small language model."""
import random
import statistics
import time

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F

SEED = 21
STEPS = 40
STORIES_PER_STEP = 4
NEW_TOKENS = 32
VOCABULARY = 2000
WIDTH = 128
HEADS = 4
LAYERS = 4
MAX_LENGTH = 128

HEROES = ["the fox", "a small dragon", "grandmother", "the tired baker", "a curious whale", "the youngest prince"]
ACTIONS = ["looked for", "painted", "carefully hid", "dreamed of", "sold", "swam around", "whispered to"]
THINGS = ["a silver spoon", "the old lighthouse", "seven red apples", "the moon", "a forgotten letter", "the river"]
PLACES = ["in the garden", "behind the hill", "on a rainy evening", "under the bridge", "before breakfast"]


def make_sentence(rng):
    return f"{rng.choice(HEROES)} {rng.choice(ACTIONS)} {rng.choice(THINGS)} {rng.choice(PLACES)} ."


def train_tokenizer(texts):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=["<unk>"]))
    return tokenizer


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, cache):
        batch, length, _ = x.shape
        qkv = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        if cache:
            k = torch.cat([cache["k"], k], dim=2)
            v = torch.cat([cache["v"], v], dim=2)
        cache["k"], cache["v"] = k, v
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        return self.out(attended.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, cache):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.feed(self.norm2(x))


class StoryModel(nn.Module):
    def __init__(self, pieces):
        super().__init__()
        self.words = nn.Embedding(pieces, WIDTH)
        self.positions = nn.Embedding(MAX_LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, pieces)

    def forward(self, tokens, caches, start):
        positions = torch.arange(start, start + tokens.shape[1])
        x = self.words(tokens) + self.positions(positions)
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x[:, -1]))


def continue_stories(model, tokens):
    """Append NEW_TOKENS tokens to each beginning; returns the tokens and their mean log-probability."""
    total = 0.0
    caches = [{} for _ in range(LAYERS)]
    seen = 0
    for _ in range(NEW_TOKENS):
        log_probs = model(tokens[:, seen:], caches, seen).log_softmax(dim=-1)
        seen = tokens.shape[1]
        best = log_probs.argmax(dim=-1, keepdim=True)
        total += log_probs.gather(1, best).mean().item()
        tokens = torch.cat([tokens, best], dim=1)
    return tokens, total / NEW_TOKENS


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    tokenizer = train_tokenizer([make_sentence(rng) for _ in range(2000)])
    model = StoryModel(tokenizer.get_vocab_size()).eval()

    step_times = []
    scores = []
    letters = 0
    with torch.inference_mode():
        for step in range(STEPS):
            started = time.perf_counter()
            beginnings = [" ".join(make_sentence(rng) for _ in range(8)) for _ in range(STORIES_PER_STEP)]
            ids = [encoding.ids for encoding in tokenizer.encode_batch(beginnings)]
            length = min(MAX_LENGTH - NEW_TOKENS, min(len(i) for i in ids))
            tokens, score = continue_stories(model, torch.tensor([i[-length:] for i in ids]))
            letters += sum(len(text) for text in tokenizer.decode_batch(tokens.tolist()))
            scores.append(score)
            step_times.append(time.perf_counter() - started)

    print(f"{letters / (STEPS * STORIES_PER_STEP):.1f} letters per story")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(scores):.6f}")


if __name__ == "__main__":
    main()
