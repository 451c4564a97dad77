"""Serves a small recipe writer: a request is a batch of prompts, each is continued by greedy decoding."""
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
VOCABULARY = 1600
WIDTH = 64
HEADS = 4
LAYERS = 2
PROMPT = 280
ANSWER = 32
ROWS = 12
NGRAM = 3


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, cache, begin):
        rows, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(rows, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        cache[0][:, :, begin:begin + length] = k
        cache[1][:, :, begin:begin + length] = v
        keys, values = (part[:, :, :begin + length] for part in cache)
        y = F.scaled_dot_product_attention(q, keys, values, is_causal=length > 1)
        x = x + self.out(y.transpose(1, 2).reshape(rows, length, WIDTH))
        return x + self.mlp(self.norm2(x))


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(PROMPT + ANSWER, WIDTH)
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def new_cache(self, rows):
        shape = (2, rows, HEADS, PROMPT + ANSWER, WIDTH // HEADS)
        return [torch.zeros(shape) for _ in self.layers]

    def forward(self, tokens, cache, begin):
        places = torch.arange(begin, begin + tokens.shape[1])
        x = self.words(tokens) + 0.3 * self.places(places)
        for layer, part in zip(self.layers, cache):
            x = layer(x, part, begin)
        return self.head(self.norm(x[:, -1]))


class RepetitionPenalty:
    def __init__(self, penalty):
        self.penalty = penalty

    def __call__(self, tokens, scores):
        seen = scores.gather(1, tokens)
        seen = torch.where(seen < 0, seen * self.penalty, seen / self.penalty)
        return scores.scatter(1, tokens, seen)


class NoRepeatedNgram:
    """Forbids every token that would complete an n-gram which the text already holds."""

    def __init__(self, size):
        self.size = size

    def followers(self, text):
        table = {}
        for ngram in zip(*[text[i:] for i in range(self.size)]):
            table.setdefault(ngram[:-1], []).append(ngram[-1])
        return table

    def __call__(self, tokens, scores):
        if tokens.shape[1] < self.size:
            return scores
        scores = scores.clone()
        for row, text in enumerate(tokens.tolist()):
            table = self.followers(text)
            banned = table.get(tuple(text[len(text) + 1 - self.size:]), [])
            scores[row, banned] = -float("inf")
        return scores


class Service:
    def __init__(self, model):
        self.model = model.eval()
        self.processors = [RepetitionPenalty(1.1), NoRepeatedNgram(NGRAM)]

    @torch.inference_mode()
    def answer(self, prompts):
        rows = prompts.shape[0]
        cache = self.model.new_cache(rows)
        text = torch.empty(rows, PROMPT + ANSWER, dtype=torch.long)
        text[:, :PROMPT] = prompts
        scores = self.model(prompts, cache, 0)
        total = torch.zeros(rows)
        for place in range(PROMPT, PROMPT + ANSWER):
            for processor in self.processors:
                scores = processor(text[:, :place], scores)
            best, chosen = F.log_softmax(scores, dim=-1).max(dim=-1)
            total += best
            text[:, place] = chosen
            if place + 1 < PROMPT + ANSWER:
                scores = self.model(chosen[:, None], cache, place)
        return text[:, PROMPT:].tolist(), (total / ANSWER).tolist()


def phrases(seed, count=70):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(VOCABULARY, (count, 8), generator=generator)


def prompts_of(table, generator):
    picks = torch.randint(len(table), (ROWS, PROMPT // table.shape[1]), generator=generator)
    return table[picks].reshape(ROWS, PROMPT)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    service = Service(Writer())
    table = phrases(3)
    arrivals = torch.Generator().manual_seed(4)
    quality, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        prompts = prompts_of(table, arrivals)
        began = time.perf_counter()
        answers, scores = service.answer(prompts)
        times.append((time.perf_counter() - began) * 1e3)
        quality.append(sum(scores) / len(scores))
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(quality[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
