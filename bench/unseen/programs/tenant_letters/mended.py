"""Fine-tunes a pretrained text encoder to sort the letters of tenants to a housing association."""
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

SEED = 877
LETTERS = 3000
OFFICES = 6
VOCABULARY = 2000
MAX_LENGTH = 192
WIDTH = 128
LAYERS = 3
BATCH_SIZE = 16
LEARNING_RATE = 2e-4
TRAIN_SECONDS = 11.5
REPORTED_STEPS = 6


def collect_letters():
    rng = np.random.default_rng(SEED)
    syllables = ["hou", "ren", "lea", "pi", "roof", "key", "no", "ta", "mil", "der", "be", "win", "sto", "gar", "lo", "fe"]
    words = np.array(sorted({"".join(rng.choice(syllables, size=rng.integers(2, 4))) for _ in range(2200)}))
    common = 1 / np.arange(1, len(words) + 1)
    common /= common.sum()
    topics = [rng.choice(len(words), size=60, replace=False) for _ in range(OFFICES)]
    letters = []
    for _ in range(LETTERS):
        office = int(rng.integers(OFFICES))
        length = int(np.clip(rng.lognormal(3.3, 0.5), 8, 150))
        text = rng.choice(len(words), size=length, p=common)
        about = rng.random(length) < 0.25
        text[about] = rng.choice(topics[office], size=about.sum())
        letters.append((" ".join(words[text]) + ".", office))
    return letters


def make_tokenizer(letters):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=VOCABULARY, special_tokens=["[PAD]", "[UNK]"], show_progress=False,
    )
    tokenizer.train_from_iterator((text for text, _ in letters), trainer)
    tokenizer.enable_truncation(MAX_LENGTH)
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    return tokenizer


class Collate:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, letters):
        texts, offices = zip(*letters)
        encodings = self.tokenizer.encode_batch(list(texts))
        ids = torch.tensor([encoding.ids for encoding in encodings])
        mask = torch.tensor([encoding.attention_mask for encoding in encodings], dtype=torch.bool)
        return ids, mask, torch.tensor(offices)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.positions = nn.Embedding(MAX_LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, nhead=4, dim_feedforward=4 * WIDTH, dropout=0.0, activation="gelu",
            batch_first=True, norm_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, LAYERS, norm=nn.LayerNorm(WIDTH), enable_nested_tensor=False)

    def forward(self, ids, mask):
        x = self.tokens(ids) + self.positions(torch.arange(ids.size(1)))
        x = self.layers(x, src_key_padding_mask=~mask)
        weights = mask.unsqueeze(2).float()
        return (x * weights).sum(1) / weights.sum(1)


class LetterSorter(nn.Module):
    def __init__(self, checkpoint):
        super().__init__()
        self.encoder = Encoder()
        self.encoder.load_state_dict(torch.load(checkpoint))
        self.head = nn.Linear(WIDTH, OFFICES)

    def forward(self, ids, mask):
        return self.head(self.encoder(ids, mask))


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    letters = collect_letters()
    tokenizer = make_tokenizer(letters)
    loader = DataLoader(letters, batch_size=BATCH_SIZE, shuffle=True, collate_fn=Collate(tokenizer))
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "encoder.pt"
        torch.save(Encoder().state_dict(), checkpoint)
        model = LetterSorter(checkpoint)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.01)

    step_times, losses = [], []
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        for ids, mask, offices in loader:
            loss = F.cross_entropy(model(ids, mask), offices)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now > finish:
                break

    print(f"{len(losses)} steps, last losses {statistics.mean(losses[-10:]):.4f}")
    print(f"step_ms={statistics.median(step_times[2:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
