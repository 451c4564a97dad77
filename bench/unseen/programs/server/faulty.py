"""Answers support tickets from a queue: which team should look at each of them?"""
import json
import re
import statistics
import time
import zlib
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 5
STEPS = 60
REQUESTS_PER_STEP = 24
VOCABULARY = 8000
PAD = 0
WIDTH = 96
HEADS = 4
LAYERS = 4
MAX_LENGTH = 64
TEAMS = [f"team-{n:02d}" for n in range(40)]

WORD = re.compile(r"[a-z0-9']+")
ORDER_NUMBER = re.compile(r"\b\d{6,}\b")
MAIL_ADDRESS = re.compile(r"\S+@\S+")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, mask):
        batch, length, _ = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.feed(self.norm2(x))


class TicketRouter(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH, padding_idx=PAD)
        self.positions = nn.Parameter(0.02 * torch.randn(MAX_LENGTH, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(TEAMS))

    def forward(self, tokens):
        real = tokens != PAD
        mask = real[:, None, None, :]
        x = self.words(tokens) + self.positions[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x) * real.unsqueeze(-1)
        pooled = x.sum(dim=1) / real.sum(dim=1, keepdim=True)
        return self.head(pooled)


def encode(text):
    text = MAIL_ADDRESS.sub("mailaddress", text.lower())
    text = ORDER_NUMBER.sub("ordernumber", text)
    words = WORD.findall(text)[:MAX_LENGTH]
    return torch.tensor([zlib.crc32(word.encode()) % (VOCABULARY - 1) + 1 for word in words])


def make_answer(request, logits):
    scores, teams = logits.softmax(dim=-1).topk(3)
    scores, teams = scores.tolist(), teams.tolist()
    body = {"id": request["id"], "teams": [{"name": TEAMS[t], "score": s} for t, s in zip(teams, scores)]}
    return json.dumps(body), scores[0]


def answer(model, messages):
    """Answer the given messages, in their order."""
    answers = []
    for message in messages:
        request = json.loads(message)
        tokens = encode(request["text"])
        logits = model(tokens.unsqueeze(0))
        answers.append(make_answer(request, logits[0]))
    return answers


def make_messages(count):
    rng = np.random.default_rng(SEED)
    syllables = ["ka", "lo", "mi", "ter", "sun", "dra", "pel", "vo", "ris", "ten", "ba", "qui"]
    words = ["".join(rng.choice(syllables, size=rng.integers(1, 4))) for _ in range(2000)]
    messages = []
    for number in range(count):
        length = int(rng.integers(12, 45))
        text = " ".join(words[w] for w in rng.integers(0, len(words), size=length - 2))
        text += f" order {rng.integers(100000, 999999)}"
        messages.append(json.dumps({"id": number, "text": text}))
    return messages


def main():
    torch.manual_seed(SEED)
    queue = deque(make_messages(STEPS * REQUESTS_PER_STEP))
    model = TicketRouter().eval()

    step_times = []
    confidence = 0.0
    answered = 0
    with torch.inference_mode():
        while queue:
            started = time.perf_counter()
            messages = [queue.popleft() for _ in range(min(REQUESTS_PER_STEP, len(queue)))]
            for body, score in answer(model, messages):
                confidence += score
                answered += 1
            step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={confidence / answered:.6f}")


if __name__ == "__main__":
    main()
