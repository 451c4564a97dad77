"""Serves a small language model that drafts replies to customer mails with beam search."""
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
WORDS = 3000
WIDTH = 192
HEADS = 6
LAYERS = 3
BEAMS = 8
NEW_WORDS = 12
PROMPT_RANGE = (150, 210)
LENGTH_PENALTY = 0.8
END = 2


class Cache:
    """Keys and values of each layer, shape [rows, heads, positions, width of a head]."""

    def __init__(self):
        self.keys, self.values = [None] * LAYERS, [None] * LAYERS

    @property
    def length(self):
        return 0 if self.keys[0] is None else self.keys[0].shape[2]

    def update(self, layer, key, value):
        if self.keys[layer] is not None:
            key = torch.cat([self.keys[layer], key], dim=2)
            value = torch.cat([self.values[layer], value], dim=2)
        self.keys[layer], self.values[layer] = key, value
        return key, value

    def select(self, rows):
        self.keys = [key.index_select(0, rows) for key in self.keys]
        self.values = [value.index_select(0, rows) for value in self.values]


class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, cache):
        rows, length, _ = x.shape
        qkv = self.qkv(self.norm1(x)).view(rows, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        key, value = cache.update(self.index, key, value)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=length > 1)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, length, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class DraftModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.place = nn.Embedding(PROMPT_RANGE[1] + NEW_WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block(i) for i in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        nn.init.normal_(self.head.weight, std=0.12)

    def forward(self, words, cache):
        """Log-probabilities of the word after the last one of each row."""
        places = torch.arange(cache.length, cache.length + words.shape[1])
        x = self.embed(words) + self.place(places)
        for block in self.blocks:
            x = block(x, cache)
        return self.head(self.norm(x[:, -1])).log_softmax(dim=-1)


class BeamSearch:
    def __init__(self, model, beams, new_words):
        self.model, self.beams, self.new_words = model, beams, new_words

    def advance(self, log_probs, scores):
        """Best continuations over all beams, twice as many as beams, so that enough are left without the end."""
        total = (scores[:, None] + log_probs).flatten()
        best, flat = total.topk(2 * self.beams)
        return best, torch.div(flat, WORDS, rounding_mode="floor"), flat % WORDS

    def finish(self, done, text, score):
        done.append((score / len(text) ** LENGTH_PENALTY, text))
        done.sort(key=lambda item: -item[0])
        del done[self.beams:]

    @torch.inference_mode()
    def generate(self, prompt):
        cache, done = Cache(), []
        rows = prompt[None].expand(self.beams, -1)
        log_probs = self.model(rows, cache)
        scores = torch.full((self.beams,), -1e9)
        scores[0] = 0.0
        texts = [[] for _ in range(self.beams)]
        for step in range(self.new_words):
            best, origin, word = (t.tolist() for t in self.advance(log_probs, scores))
            kept = []
            for score, row, choice in zip(best, origin, word):
                if choice == END:
                    self.finish(done, texts[row] + [choice], score)
                elif len(kept) < self.beams:
                    kept.append((score, row, choice))
            scores = torch.tensor([score for score, _, _ in kept])
            texts = [texts[row] + [choice] for _, row, choice in kept]
            if step + 1 < self.new_words:
                cache.select(torch.tensor([row for _, row, _ in kept]))
                log_probs = self.model(torch.tensor([[choice] for _, _, choice in kept]), cache)
        for score, text in zip(scores.tolist(), texts):
            self.finish(done, text, score)
        return done


def make_mails(count, seed):
    generator = torch.Generator().manual_seed(seed)
    mails = []
    for _ in range(count):
        length = int(torch.randint(*PROMPT_RANGE, (1,), generator=generator))
        rank = torch.rand(length, generator=generator) ** 3
        mails.append(3 + (rank * (WORDS - 3)).long())
    return mails


class DraftService:
    def __init__(self, model):
        self.search = BeamSearch(model.eval(), BEAMS, NEW_WORDS)
        self.served = 0

    def handle(self, mail):
        drafts = self.search.generate(mail)
        self.served += 1
        return [{"score": score, "words": words, "length": len(words)} for score, words in drafts]


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    service = DraftService(DraftModel())
    mails = make_mails(64, 61)
    scores, lengths, times = [], [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        mail = mails[service.served % len(mails)]
        began = time.perf_counter()
        drafts = service.handle(mail)
        times.append((time.perf_counter() - began) * 1e3)
        scores.append(sum(draft["score"] for draft in drafts) / len(drafts))
        lengths.append(drafts[0]["length"])
    print(f"{service.served} mails, mean length of the best draft {sum(lengths) / len(lengths):.1f} words")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(scores[:10]) / 10:.4f}")


if __name__ == "__main__":
    main()
