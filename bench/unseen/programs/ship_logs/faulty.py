"""Pretrains a small masked language model on synthetic ship log entries."""
import random
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch.utils.data import DataLoader, Dataset

TRAIN_SECONDS = 11
ENTRIES = 4000
BATCH = 32
MAX_TOKENS = 96
WIDTH = 64
LAYERS = 2
MASK_RATE = 0.15

WINDS = "north south east west northerly southerly variable calm".split()
SEAS = "smooth slight moderate rough high confused swell heavy".split()
SKIES = "clear cloudy overcast squally misty hazy rain thunder".split()
DUTIES = "scrubbed painted mended stowed inspected hoisted furled greased".split()
GEAR = "decks sails boats anchors rigging pumps casks cables topgallants hatches".split()
PEOPLE = "captain mate boatswain carpenter cook surgeon watch crew".split()
PORTS = "lisbon cadiz halifax batavia valparaiso hobart bergen macao".split()
GLUE = "the at and of with in to from a on noon . , made good miles bearing steered".split()


def make_entries(count, seed):
    rng = random.Random(seed)
    entries = []
    for _ in range(count):
        parts = []
        for _ in range(rng.randint(4, 8)):
            wind, port = rng.choice(WINDS), rng.choice(PORTS)
            parts.append(f"wind {wind} , sea {rng.choice(SEAS)} , sky {rng.choice(SKIES)} .")
            parts.append(f"{rng.choice(PEOPLE)} {rng.choice(DUTIES)} the {rng.choice(GEAR)} at noon .")
            if rng.random() < 0.5:
                parts.append(f"steered {wind} to {port} , made good {rng.randint(20, 199)} miles .")
        entries.append(" ".join(parts))
    return entries


class LogTokenizer:
    """Word-level tokenizer with the special tokens of the log corpus."""

    SPECIAL = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    EXTRA = ["[SHIP]", "[DATE]", *(f"[FADED{n}]" for n in range(24))]

    def __init__(self):
        words = WINDS + SEAS + SKIES + DUTIES + GEAR + PEOPLE + PORTS + GLUE + ["wind", "sea", "sky"]
        tokens = self.all_special_tokens + list(dict.fromkeys(words)) + [str(n) for n in range(20, 200)]
        vocabulary = {token: i for i, token in enumerate(tokens)}
        self.backend = Tokenizer(models.WordLevel(vocabulary, unk_token=self.SPECIAL["unk"]))
        self.backend.normalizer = normalizers.Lowercase()
        self.backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        self.backend.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[(t, vocabulary[t]) for t in ("[CLS]", "[SEP]")])
        self.backend.enable_truncation(MAX_TOKENS)
        self.backend.enable_padding(pad_id=vocabulary["[PAD]"], pad_token="[PAD]")

    def __len__(self):
        return self.backend.get_vocab_size()

    def token_id(self, token):
        return self.backend.token_to_id(token)

    @property
    def all_special_tokens(self):
        return list(dict.fromkeys([*self.SPECIAL.values(), *self.EXTRA]))

    @property
    def all_special_ids(self):
        return [self.token_id(token) for token in self.all_special_tokens]

    def encode(self, texts):
        return [encoding.ids for encoding in self.backend.encode_batch(texts)]

    def special_tokens_mask(self, ids):
        return [1 if token in self.all_special_ids else 0 for token in ids]


class LogEntries(Dataset):
    def __init__(self, entries):
        self.entries = entries

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, index):
        return self.entries[index]


class MaskingCollator:
    def __init__(self, tokenizer, seed):
        self.tokenizer = tokenizer
        self.generator = torch.Generator().manual_seed(seed)
        self.pad, self.mask = tokenizer.token_id("[PAD]"), tokenizer.token_id("[MASK]")

    def __call__(self, texts):
        rows = self.tokenizer.encode(texts)
        ids = torch.tensor(rows)
        special = torch.tensor([self.tokenizer.special_tokens_mask(row) for row in rows], dtype=torch.bool)
        chosen = (torch.rand(ids.shape, generator=self.generator) < MASK_RATE) & ~special
        labels = torch.where(chosen, ids, -100)
        dice = torch.rand(ids.shape, generator=self.generator)
        words = torch.randint(len(self.tokenizer), ids.shape, generator=self.generator)
        inputs = torch.where(chosen & (dice < 0.8), self.mask, ids)
        inputs = torch.where(chosen & (dice >= 0.9), words, inputs)
        return inputs, ids == self.pad, labels


class LogModel(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(MAX_TOKENS, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, LAYERS, norm=nn.LayerNorm(WIDTH), enable_nested_tensor=False)

    def forward(self, ids, padding):
        hidden = self.words(ids) + self.places[:ids.shape[1]]
        return self.encoder(hidden, src_key_padding_mask=padding)


def train_step(model, optimizer, inputs, padding, labels):
    hidden = model(inputs, padding)
    picked = labels != -100
    loss = F.cross_entropy(F.linear(hidden[picked], model.words.weight) / WIDTH ** 0.5, labels[picked])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(11)
    tokenizer = LogTokenizer()
    loader = DataLoader(LogEntries(make_entries(ENTRIES, 12)), BATCH, shuffle=True, drop_last=True,
                        collate_fn=MaskingCollator(tokenizer, 13), generator=torch.Generator().manual_seed(14))
    model = LogModel(len(tokenizer))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses, times = [], []
    batches = iter(loader)
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        began = time.perf_counter()
        batch = next(batches, None)
        if batch is None:
            print(f"epoch done: loss {statistics.mean(losses[-len(loader):]):.4f}")
            batches = iter(loader)
            continue
        losses.append(train_step(model, optimizer, *batch))
        times.append((time.perf_counter() - began) * 1e3)
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
