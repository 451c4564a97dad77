"""A small language model, recorded with Python stacks, module calls and memory.

usage: python transformer.py TRACE.json
"""
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

VOCABULARY, WIDTH, HEADS, LAYERS, BATCH, LENGTH = 500, 128, 4, 2, 8, 64
WAIT, WARMUP, RECORDED = 1, 1, 3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.before_mlp = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, length, _ = x.shape
        heads = self.qkv(self.before_attention(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.mlp(self.before_mlp(x))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def train(trace_path):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = LanguageModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    tokens = torch.randint(VOCABULARY, (BATCH, LENGTH + 1))
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True, profile_memory=True,
                 schedule=schedule(wait=WAIT, warmup=WARMUP, active=RECORDED, repeat=1),
                 on_trace_ready=lambda prof: prof.export_chrome_trace(trace_path)) as prof:
        for _ in range(WAIT + WARMUP + RECORDED):
            optimizer.zero_grad()
            scores = model(tokens[:, :-1])
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
            optimizer.step()
            prof.step()


if __name__ == "__main__":
    train(sys.argv[1])
