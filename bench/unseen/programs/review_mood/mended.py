"""Sorts hotel reviews of one line to several paragraphs by the mood of the guest."""
import random
import statistics
import time

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

SEED = 43
REVIEWS = 1664
BATCH_SIZE = 32
WIDTH = 128
HEADS = 4
LAYERS = 3
LONGEST = 160
EPOCHS = 2
MOODS = {
    "happy": "lovely friendly bright quiet delicious sunny welcoming spotless".split(),
    "angry": "rude filthy broken loud cold stained expensive smelly".split(),
    "bored": "plain average ordinary acceptable empty usual simple beige".split(),
}
THINGS = "room bed breakfast pool lift view staff garden shower lobby terrace towel bar".split()
FILLERS = "the was and our very in a with for at we had it on to again there this".split()


def write_reviews():
    rng = random.Random(SEED)
    texts, moods = [], []
    for _ in range(REVIEWS):
        mood = rng.randrange(len(MOODS))
        words = []
        for _ in range(min(LONGEST, int(rng.lognormvariate(4.0, 0.4)))):
            draw = rng.random()
            if draw < 0.08:
                words.append(rng.choice(list(MOODS.values())[mood]))
            elif draw < 0.14:
                words.append(rng.choice(rng.choice(list(MOODS.values()))))
            else:
                words.append(rng.choice(THINGS if draw < 0.4 else FILLERS))
        texts.append(" ".join(words))
        moods.append(mood)
    return texts, torch.tensor(moods)


def tokenize(texts):
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
    encoded = [torch.tensor(line.ids) for line in tokenizer.encode_batch(texts)]
    return encoded, tokenizer.get_vocab_size()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention = nn.LayerNorm(WIDTH)
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.merge = nn.Linear(WIDTH, WIDTH)
        self.before_mlp = nn.LayerNorm(WIDTH)
        self.widen = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, mask):
        batch, length, _ = x.shape
        parts = self.project(self.before_attention(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = x + self.merge(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.narrow(F.gelu(self.widen(self.before_mlp(x)), approximate="tanh"))


class MoodClassifier(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embedding = nn.Embedding(words, WIDTH, padding_idx=0)
        self.position = nn.Parameter(0.02 * torch.randn(LONGEST, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, len(MOODS))

    def forward(self, tokens):
        real = tokens != 0
        x = self.embedding(tokens) + self.position[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x, real[:, None, None, :])
        weight = real.unsqueeze(2).float()
        return self.head((x * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1))


def main():
    torch.manual_seed(SEED)
    texts, moods = write_reviews()
    encoded, words = tokenize(texts)
    lengths = torch.tensor([len(line) for line in encoded])
    batches = list(lengths.argsort().split(BATCH_SIZE))
    model = MoodClassifier(words)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)

    step_times, losses = [], []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for number in torch.randperm(len(batches)).tolist():
            rows = batches[number]
            tokens = pad_sequence([encoded[row] for row in rows.tolist()], batch_first=True)
            loss = F.cross_entropy(model(tokens), moods[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
        print(f"epoch {epoch}: loss {statistics.mean(losses[-len(batches):]):.4f}")

    print(f"step_ms={statistics.mean(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-20:]):.6f}")


if __name__ == "__main__":
    main()
