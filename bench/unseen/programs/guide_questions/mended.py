"""Trains a head on a small pre-trained transformer to sort the questions that mountain guides receive."""
import os
import statistics
import tempfile
import time

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 877
QUESTIONS = 2400
TOPICS = 8
VOCABULARY = 2000
MAX_LENGTH = 192
WIDTH = 128
LAYERS = 3
HEADS = 4
BATCH_SIZE = 32
LEARNING_RATE = 2e-3
TRAIN_SECONDS = 11
REPORTED_STEPS = 25


def write_questions():
    rng = np.random.default_rng(SEED)
    syllables = ["al", "gla", "cier", "ro", "pe", "hut", "sum", "mit", "ki", "tra", "lo", "ven", "sno", "pass", "er", "ta"]
    words = np.array(["".join(rng.choice(syllables, size=rng.integers(1, 5))) for _ in range(3000)])
    texts, topics = [], rng.integers(TOPICS, size=QUESTIONS)
    for topic in topics:
        length = int(np.clip(rng.lognormal(2.7, 0.5), 4, 160))
        chosen = np.minimum(rng.zipf(1.3, size=length), len(words)) - 1
        own = rng.random(length) < 0.25
        chosen[own] = 200 + topic * 40 + rng.integers(40, size=own.sum())
        texts.append(" ".join(words[chosen]) + "?")
    return texts, topics


def train_tokenizer(texts):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=VOCABULARY, special_tokens=["[PAD]", "[UNK]", "[CLS]"], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.enable_truncation(MAX_LENGTH)
    return tokenizer


class Questions(Dataset):
    def __init__(self, texts, topics, tokenizer):
        cls = tokenizer.token_to_id("[CLS]")
        encodings = tokenizer.encode_batch(texts)
        self.ids = [torch.tensor([cls] + encoding.ids[:MAX_LENGTH - 1]) for encoding in encodings]
        self.topics = torch.from_numpy(topics)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return self.ids[index], self.topics[index]


def collate(samples):
    longest = max(len(sample) for sample, _ in samples)
    ids = torch.zeros(len(samples), longest, dtype=torch.long)
    for row, (sample, _) in zip(ids, samples):
        row[:len(sample)] = sample
    return ids, ids == 0, torch.stack([topic for _, topic in samples])


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.positions = nn.Embedding(MAX_LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(WIDTH), enable_nested_tensor=False)

    def forward(self, ids, padding):
        places = torch.arange(ids.size(1))
        return self.encoder(self.tokens(ids) + self.positions(places), src_key_padding_mask=padding)


class TopicModel(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, TOPICS))

    def forward(self, ids, padding):
        return self.head(self.backbone(ids, padding)[:, 0])


def load_backbone(path):
    backbone = Backbone()
    backbone.load_state_dict(torch.load(path, weights_only=True))
    return backbone


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    texts, topics = write_questions()
    dataset = Questions(texts, topics, train_tokenizer(texts))
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, collate_fn=collate, drop_last=True)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "backbone.pt")
        torch.save(Backbone().state_dict(), path)
        model = TopicModel(load_backbone(path).requires_grad_(False))
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=LEARNING_RATE, weight_decay=0.01)

    step_times, losses = [], []
    finish = time.perf_counter() + TRAIN_SECONDS
    last = time.perf_counter()
    while last < finish:
        for ids, padding, labels in loader:
            loss = F.cross_entropy(model(ids, padding), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.head.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if now > finish:
                break

    print(f"{len(losses)} steps, last losses {statistics.mean(losses[-10:]):.4f}")
    print(f"step_ms={statistics.median(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:REPORTED_STEPS]):.4f}")


if __name__ == "__main__":
    main()
