"""Tunes a small causal language model to the menus of a restaurant with low-rank adapters."""
import math
import random
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

SEED = 72
MENUS = 3000
LENGTH = 64
BATCH_SIZE = 3
WIDTH = 512
HEADS = 8
BLOCKS = 6
RANK = 8
ALPHA = 16
STEPS = 130
LEARNING_RATE = 2e-3
STARTERS = ["leek soup", "beet salad", "smoked trout", "goat cheese", "mushroom toast"]
MAINS = ["roast duck", "barley risotto", "grilled pike", "lamb stew", "lentil pie"]
SIDES = ["parsnips", "red cabbage", "new potatoes", "green beans", "dumplings"]
SWEETS = ["plum tart", "rhubarb fool", "walnut cake", "pear sorbet", "bread pudding"]


def make_menus():
    chance = random.Random(SEED)
    menus = []
    for _ in range(MENUS):
        main = chance.choice(MAINS)
        price = 18 + 2 * MAINS.index(main) + chance.randrange(3)
        menus.append(
            f"{chance.choice(STARTERS)}; {main} with {chance.choice(SIDES)}; "
            f"{chance.choice(SWEETS)}: {price}"
        )
    return menus


def encode(menus):
    letters = sorted(set("".join(menus)))
    number = {letter: place + 1 for place, letter in enumerate(letters)}
    tokens = torch.zeros(len(menus), LENGTH + 1, dtype=torch.long)
    for row, menu in enumerate(menus):
        codes = [number[letter] for letter in menu[:LENGTH + 1]]
        tokens[row, :len(codes)] = torch.tensor(codes)
    return tokens, len(letters) + 1


class AdaptedLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs), requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(outputs), requires_grad=False)
        self.down = nn.Parameter(torch.empty(RANK, inputs))
        self.up = nn.Parameter(torch.zeros(outputs, RANK))
        nn.init.normal_(self.weight, std=1 / math.sqrt(inputs))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))
        self.scale = ALPHA / RANK

    def forward(self, x):
        change = F.linear(F.linear(x, self.down), self.up)
        return F.linear(x, self.weight, self.bias) + self.scale * change


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.queries_keys_values = AdaptedLinear(WIDTH, 3 * WIDTH)
        self.merge = AdaptedLinear(WIDTH, WIDTH)
        self.mlp_norm = nn.LayerNorm(WIDTH)
        self.widen = AdaptedLinear(WIDTH, 4 * WIDTH)
        self.narrow = AdaptedLinear(4 * WIDTH, WIDTH)

    def forward(self, x):
        rows, length, _ = x.shape
        mixed = self.queries_keys_values(self.attention_norm(x))
        query, key, value = mixed.view(rows, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        read = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.merge(read.transpose(1, 2).reshape(rows, length, WIDTH))
        return x + self.narrow(F.gelu(self.widen(self.mlp_norm(x))))


class MenuModel(nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.letters = nn.Embedding(letters, WIDTH)
        self.places = nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH), requires_grad=False)
        self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, letters)
        self.letters.requires_grad_(False)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.letters(tokens) + self.places)))


class Tuner:
    def __init__(self, model):
        self.model = model
        trained = [weight for weight in model.parameters() if weight.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=LEARNING_RATE, fused=True)

    def step(self, tokens):
        logits = self.model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    tokens, letters = encode(make_menus())
    tuner = Tuner(MenuModel(letters))

    step_times = []
    losses = []
    last = time.perf_counter()
    for step in range(STEPS):
        rows = torch.randint(len(tokens), (BATCH_SIZE,))
        losses.append(tuner.step(tokens[rows]))
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
