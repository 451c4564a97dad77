"""Character model for verse: a long-memory recurrent net with a rotation as its transition."""
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import orthogonal

TRAIN_SECONDS = 11
BATCH = 96
SEQ_LEN = 32
EMBED = 64
HIDDEN = 128

SUBJECTS = ["the river", "a lantern", "my shadow", "the old moon", "winter", "her voice", "the harbour"]
VERBS = ["sings to", "forgets", "follows", "wakes", "carries", "remembers", "waits for"]
OBJECTS = ["the hills", "a sleeping town", "every stone", "the sea", "morning", "no one", "the rain"]
ENDINGS = [".", ",", ";", " and", " again.", " tonight,", " alone."]


def write_verses(lines, generator):
    picks = torch.randint(0, 7, (lines, 4), generator=generator).tolist()
    return "\n".join(
        f"{SUBJECTS[a]} {VERBS[b]} {OBJECTS[c]}{ENDINGS[d]}" for a, b, c, d in picks
    )


class CharCorpus:
    def __init__(self, text):
        self.chars = sorted(set(text))
        lookup = {c: i for i, c in enumerate(self.chars)}
        self.ids = torch.tensor([lookup[c] for c in text], dtype=torch.long)

    def __len__(self):
        return len(self.chars)

    def sample(self, batch, length, generator):
        starts = torch.randint(0, len(self.ids) - length - 1, (batch, 1), generator=generator)
        window = self.ids[starts + torch.arange(length + 1)]
        return window[:, :-1], window[:, 1:]


class ModReLU(nn.Module):
    """Keeps the sign and shrinks the magnitude, the usual companion of norm-preserving transitions."""

    def __init__(self, size):
        super().__init__()
        self.bias = nn.Parameter(torch.full((size,), -0.01))

    def forward(self, x):
        return torch.sign(x) * F.relu(x.abs() + self.bias)


class RotationRNN(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.inp = nn.Linear(inputs, hidden)
        self.rec = orthogonal(nn.Linear(hidden, hidden, bias=False), orthogonal_map="cayley")
        self.act = ModReLU(hidden)

    def forward(self, x):
        drive = self.inp(x)
        h = x.new_zeros(x.size(0), self.hidden)
        states = []
        with parametrize.cached():
            for t in range(x.size(1)):
                h = self.act(drive[:, t] + self.rec(h))
                states.append(h)
        return torch.stack(states, dim=1)


class VerseModel(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embed = nn.Embedding(vocab, EMBED)
        self.rnn = RotationRNN(EMBED, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN)
        self.mix = nn.Sequential(nn.Linear(HIDDEN, 512), nn.GELU(), nn.Linear(512, HIDDEN))
        self.out = nn.Linear(HIDDEN, vocab)

    def forward(self, ids):
        states = self.rnn(self.embed(ids))
        return self.out(states + self.mix(self.norm(states)))


def train_step(model, optimizer, ids, targets):
    logits = model(ids)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(12)
    corpus = CharCorpus(write_verses(6000, generator))
    model = VerseModel(len(corpus))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    losses, times = [], []
    begin = time.perf_counter()
    while time.perf_counter() - begin < TRAIN_SECONDS:
        start = time.perf_counter()
        ids, targets = corpus.sample(BATCH, SEQ_LEN, generator)
        losses.append(train_step(model, optimizer, ids, targets))
        times.append((time.perf_counter() - start) * 1e3)

    print(f"steps={len(losses)} last_loss={losses[-1]:.4f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
