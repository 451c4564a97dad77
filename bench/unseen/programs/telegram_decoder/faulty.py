"""Repairs telegrams with garbled letters: recurrent encoder, recurrent decoder with attention."""
import random
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

SEED = 71
TELEGRAMS = 1600
LENGTH = 32
ENCODER_WIDTH = 512
DECODER_WIDTH = 128
ATTENTION_WIDTH = 64
BATCH_SIZE = 24
STEPS = 45
LEARNING_RATE = 2e-3
START = 0
LETTERS = "abcdefghijklmnopqrstuvwxyz "

WORDS = """arrive leave send money ship train harbour delayed monday tuesday friday stop mother
ill well letter follows please wire bank cargo coal grain price rising falling buy sell hold
meet station noon evening storm captain crew safe london lisbon hamburg""".split()


def make_telegrams():
    """Pairs of a garbled telegram and the right one."""
    rng = random.Random(SEED)
    garbled, right = [], []
    for _ in range(TELEGRAMS):
        text = " ".join(rng.choices(WORDS, k=10))[:LENGTH]
        noisy = [rng.choice(LETTERS) if rng.random() < 0.1 else letter for letter in text]
        garbled.append([LETTERS.index(letter) + 1 for letter in noisy])
        right.append([LETTERS.index(letter) + 1 for letter in text])
    return torch.tensor(garbled), torch.tensor(right)


class Encoder(nn.Module):
    def __init__(self, symbols):
        super().__init__()
        self.embedding = nn.Embedding(symbols, 64)
        self.gru = nn.GRU(64, ENCODER_WIDTH // 2, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(ENCODER_WIDTH, DECODER_WIDTH)

    def forward(self, letters):
        outputs, state = self.gru(self.embedding(letters))
        return outputs, self.bridge(torch.cat([state[0], state[1]], dim=1)).tanh()


class Attention(nn.Module):
    """Additive attention (Bahdanau et al.)."""

    def __init__(self):
        super().__init__()
        self.from_query = nn.Linear(DECODER_WIDTH, ATTENTION_WIDTH)
        self.from_keys = nn.Linear(ENCODER_WIDTH, ATTENTION_WIDTH, bias=False)
        self.score = nn.Linear(ATTENTION_WIDTH, 1, bias=False)

    def forward(self, query, keys):
        hidden = torch.tanh(self.from_query(query).unsqueeze(1) + self.from_keys(keys))
        weights = self.score(hidden).squeeze(2).softmax(dim=1)
        return torch.bmm(weights.unsqueeze(1), keys).squeeze(1)


class Decoder(nn.Module):
    def __init__(self, symbols):
        super().__init__()
        self.embedding = nn.Embedding(symbols, 64)
        self.attention = Attention()
        self.cell = nn.GRUCell(64 + ENCODER_WIDTH, DECODER_WIDTH)
        self.out = nn.Linear(DECODER_WIDTH + ENCODER_WIDTH, symbols)

    def forward(self, encoded, state, targets):
        start = torch.full_like(targets[:, :1], START)
        given = self.embedding(torch.cat([start, targets[:, :-1]], dim=1))
        found = []
        for letter in given.unbind(1):
            context = self.attention(state, encoded)
            state = self.cell(torch.cat([letter, context], dim=1), state)
            found.append(torch.cat([state, context], dim=1))
        return self.out(torch.stack(found, dim=1))


class Repairer(nn.Module):
    def __init__(self):
        super().__init__()
        symbols = len(LETTERS) + 1
        self.encoder = Encoder(symbols)
        self.decoder = Decoder(symbols)

    def forward(self, garbled, right):
        encoded, state = self.encoder(garbled)
        return self.decoder(encoded, state, right)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    garbled, right = make_telegrams()
    model = Repairer()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

    step_times = []
    losses = []
    last = time.perf_counter()
    for step in range(STEPS):
        rows = torch.randint(TELEGRAMS, (BATCH_SIZE,))
        logits = model(garbled[rows], right[rows])
        loss = F.cross_entropy(logits.flatten(0, 1), right[rows].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
