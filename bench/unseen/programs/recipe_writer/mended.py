"""Tunes a small transformer decoder to write cooking steps for a list of ingredients."""
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
VOCAB = 12_000
WIDTH = 128
HEADS = 4
LENGTH = 80
BATCH = 12
IGNORE = -100
BOS, SEP, EOS, PAD = 0, 1, 2, 3


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = SelfAttention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class RecipeWriter(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(Layer(WIDTH, HEADS) for _ in range(layers))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)
        nn.init.normal_(self.words.weight, std=0.02)
        self.head.weight = self.words.weight

    def forward(self, tokens, labels):
        x = self.words(tokens) + self.places.weight[:tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        hidden = self.norm(x)[:, :-1].flatten(0, 1)
        labels = labels[:, 1:].flatten()
        wanted = labels != IGNORE
        logits = self.head(hidden[wanted])
        return F.cross_entropy(logits, labels[wanted])


class Cookbook:
    """Long ingredient lists, short instructions; only the instructions are to be learnt."""

    def __init__(self, recipes=3000, seed=17):
        self.generator = torch.Generator().manual_seed(seed)
        self.ingredients = torch.randint(10, 6000, (recipes, 60), generator=self.generator)
        self.sizes = torch.randint(45, 61, (recipes,), generator=self.generator)
        self.verbs = torch.randint(6000, VOCAB, (40,), generator=self.generator)

    def example(self, index):
        size = int(self.sizes[index])
        listed = self.ingredients[index, :size]
        steps = torch.stack([self.verbs[listed[:7] % 40], listed[:7]], dim=1).flatten()
        prompt = torch.cat([torch.tensor([BOS]), listed, torch.tensor([SEP])])
        return prompt, torch.cat([steps, torch.tensor([EOS])])

    def batch(self):
        tokens = torch.full((BATCH, LENGTH), PAD)
        labels = torch.full((BATCH, LENGTH), IGNORE)
        chosen = torch.randint(len(self.sizes), (BATCH,), generator=self.generator)
        for row, index in enumerate(chosen.tolist()):
            prompt, reply = self.example(index)
            end = len(prompt) + len(reply)
            tokens[row, :end] = torch.cat([prompt, reply])
            labels[row, len(prompt):end] = reply
        return tokens, labels


def make_optimizer(model):
    decayed = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.98), fused=True)


def learning_rate(step, warmup=40, total=2000):
    if step < warmup:
        return (step + 1) / warmup
    return 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, step / total)))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(0)
    cookbook, model = Cookbook(), RecipeWriter()
    optimizer = make_optimizer(model)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, learning_rate)
    losses, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        tokens, labels = cookbook.batch()
        loss = model(tokens, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        times.append((time.perf_counter() - began) * 1e3)
    print(f"steps={len(times)} last loss {losses[-1]:.3f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
