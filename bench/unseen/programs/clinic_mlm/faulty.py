"""Pre-trains a small encoder on visit reports by filling in masked tokens."""
import random
import statistics
import time

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F

SEED = 5
REPORTS = 900
STEMS = 1500
VOCABULARY = 6000
LENGTH = 64
WIDTH = 96
HEADS = 4
LAYERS = 2
BATCH_SIZE = 8
STEPS = 70
MASK_SHARE = 0.15
IGNORE = -100
LEARNING_RATE = 0.05


def make_reports():
    rng = random.Random(SEED)
    starts = ["card", "neur", "pulm", "derm", "oste", "gast", "hepa", "neph", "hema", "path", "cyt", "derma"]
    middles = ["i", "o", "a", "ol", "al", "op", "it", "er", "en", "ur", "em", "ot", "ast", "ect"]
    ends = ["itis", "osis", "gram", "logy", "emia", "oma", "pathy", "scopy", "al", "ic", "ine", "ate"]
    stems = set()
    while len(stems) < STEMS:
        stems.add(rng.choice(starts) + "".join(rng.choices(middles, k=rng.randint(0, 2))) + rng.choice(ends))
    stems = sorted(stems)
    rng.shuffle(stems)
    weights = [1.0 / (rank + 20) for rank in range(STEMS)]
    links = ["and", "with", "after", "before", "no", "mild", "severe", "left", "right", "of", "the"]
    reports = []
    for _ in range(REPORTS):
        words = []
        for stem in rng.choices(stems, weights=weights, k=45):
            words += [rng.choice(links), stem, f"{rng.randint(1, 400)}mg"]
        reports.append(" ".join(words))
    return reports


def train_tokenizer(reports):
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=["[PAD]", "[UNK]", "[MASK]"])
    tokenizer.train_from_iterator(reports, trainer)
    return tokenizer


def encode(tokenizer, reports):
    tokenizer.enable_truncation(LENGTH)
    tokenizer.enable_padding(length=LENGTH)
    return torch.tensor([encoding.ids for encoding in tokenizer.encode_batch(reports)])


def mask_tokens(tokens, mask_id, generator):
    """Hide some of the tokens; the targets are the hidden ones."""
    hidden = torch.rand(tokens.shape, generator=generator) < MASK_SHARE
    inputs = tokens.masked_fill(hidden, mask_id)
    targets = tokens.masked_fill(~hidden, IGNORE)
    return inputs, targets


class ReportEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, dim_feedforward=4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)

    def forward(self, tokens):
        return self.encoder(self.tokens(tokens) + self.positions.weight)


class MaskedHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.transform = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH))
        self.decoder = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, hidden):
        return self.decoder(self.transform(hidden))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    reports = make_reports()
    tokenizer = train_tokenizer(reports)
    tokens = encode(tokenizer, reports)
    encoder, head = ReportEncoder(), MaskedHead()
    parameters = [*encoder.parameters(), *head.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=LEARNING_RATE, momentum=0.9)
    generator = torch.Generator().manual_seed(SEED)

    step_times = []
    losses = []
    for step in range(STEPS):
        started = time.perf_counter()
        chosen = torch.randint(len(tokens), (BATCH_SIZE,), generator=generator)
        inputs, targets = mask_tokens(tokens[chosen], tokenizer.token_to_id("[MASK]"), generator)
        hidden = encoder(inputs)
        logits = head(hidden)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
