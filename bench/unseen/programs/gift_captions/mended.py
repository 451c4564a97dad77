"""Writes captions of the length that each customer of a gift shop asked for."""
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

SEED = 89
VOCABULARY = 3000
WIDTH = 256
HEADS = 8
LAYERS = 4
PROMPT = 12
LONGEST = 80
BATCH_SIZE = 48
BATCHES = 44


class Orders:
    """The orders of one evening: the words of a prompt and the number of tokens that are wanted."""

    def __init__(self, generator):
        count = BATCHES * BATCH_SIZE
        self.prompts = torch.randint(VOCABULARY, (count, PROMPT), generator=generator)
        lengths = 8 + torch.empty(count).exponential_(1 / 14, generator=generator).long()
        self.wanted = lengths.clamp_(max=LONGEST)

    def batches(self):
        return zip(self.prompts.split(BATCH_SIZE), self.wanted.split(BATCH_SIZE))


class Cache:
    """Keys and values of all layers, for the whole length of a batch."""

    def __init__(self, rows, length):
        shape = (LAYERS, rows, HEADS, length, WIDTH // HEADS)
        self.keys = torch.empty(shape)
        self.values = torch.empty(shape)

    def extend(self, layer, start, keys, values):
        rows, end = keys.shape[0], start + keys.shape[2]
        self.keys[layer, :rows, :, start:end] = keys
        self.values[layer, :rows, :, start:end] = values
        return self.keys[layer, :rows, :, :end], self.values[layer, :rows, :, :end]


class Block(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.before_attention = nn.LayerNorm(WIDTH)
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.before_mlp = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, cache, start):
        rows, length, _ = x.shape
        projected = self.project(self.before_attention(x)).view(rows, length, 3, HEADS, -1)
        queries, keys, values = projected.permute(2, 0, 3, 1, 4)
        keys, values = cache.extend(self.layer, start, keys, values)
        mixed = F.scaled_dot_product_attention(queries, keys, values, is_causal=length > 1)
        x = x + self.output(mixed.transpose(1, 2).reshape(rows, length, WIDTH))
        return x + self.mlp(self.before_mlp(x))


class CaptionModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(PROMPT + LONGEST, WIDTH)
        self.blocks = nn.ModuleList(Block(layer) for layer in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, cache, start):
        places = torch.arange(start, start + tokens.shape[1])
        x = self.words(tokens) + self.places(places)
        for block in self.blocks:
            x = block(x, cache, start)
        return self.head(self.norm(x[:, -1]))


class CaptionWriter:
    def __init__(self, model):
        self.model = model.eval()

    @torch.inference_mode()
    def write(self, prompts, wanted):
        order = wanted.argsort(descending=True, stable=True)
        lengths = wanted[order]
        longest = int(lengths[0])
        active = (lengths.unsqueeze(0) > torch.arange(longest).unsqueeze(1)).sum(dim=1).tolist()
        cache = Cache(len(prompts), PROMPT + longest)
        written = torch.zeros(len(prompts), longest, dtype=torch.long)
        tokens, start = prompts[order], 0
        for step in range(longest):
            rows = active[step]
            chosen = self.model(tokens[:rows], cache, start).argmax(dim=1)
            written[order[:rows], step] = chosen
            start += tokens.shape[1]
            tokens = chosen.unsqueeze(1)
        return [row[:length] for row, length in zip(written, wanted.tolist())]


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    orders = Orders(generator)
    writer = CaptionWriter(CaptionModel())

    step_times = []
    tokens_written, total = 0, 0
    last = time.perf_counter()
    for prompts, wanted in orders.batches():
        captions = writer.write(prompts, wanted)
        tokens_written += sum(len(caption) for caption in captions)
        total += sum(int(caption.sum()) for caption in captions)
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"{tokens_written} tokens in {sum(step_times):.1f} s")
    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={total / tokens_written:.4f}")


if __name__ == "__main__":
    main()
