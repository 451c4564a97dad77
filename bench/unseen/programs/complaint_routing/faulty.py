"""Learns which department of a bank a customer's complaint belongs to, streamed from a JSON Lines file."""
import html
import json
import os
import re
import statistics
import tempfile
import time
import unicodedata

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

SEED = 64
DEPARTMENTS = 10
COMPLAINTS = 16000
MAX_TOKENS = 256
BATCH_SIZE = 64
WORKERS = 2
LEARNING_RATE = 1e-3
MASKED = re.compile(r"\b[xX]{2,}\b|\d{4,}")
TAG = re.compile(r"<[^>]+>")
WORD = re.compile(r"[^\W_]+|[^\w\s]")
ENDING = re.compile(r"(?<=\w{4})(landus|grame|tien|suen|mover|stoca|fine|ca|ne|en)$")


def make_complaints(path):
    """Complaints as a web form stores them: markup, entities, masked names and account numbers."""
    rng = np.random.default_rng(SEED)
    parts = ["ca", "rel", "mo", "ti", "en", "dus", "po", "lan", "fi", "gra", "su", "ver", "ne", "sto"]
    words = ["".join(rng.choice(parts, size=rng.integers(2, 5))) for _ in range(6000)]
    words += ["XXXX", "<br/>", "&amp;", "12345678", "don&#39;t", "caf\u00e9", "&quot;"] * 40
    common = rng.integers(len(words), size=(COMPLAINTS, 190))
    with open(path, "w", encoding="utf-8") as file:
        for number in range(COMPLAINTS):
            department = int(rng.integers(DEPARTMENTS))
            special = department * 40 + rng.integers(40, size=14)
            chosen = rng.permutation(np.concatenate([common[number, :rng.integers(90, 190)], special]))
            text = " ".join(words[index] for index in chosen)
            file.write(json.dumps({"text": text, "department": department}) + "\n")


def train_tokenizer(path):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=3000, special_tokens=["[PAD]", "[UNK]"], show_progress=False
    )
    with open(path, encoding="utf-8") as file:
        texts = [clean(json.loads(line)["text"]) for _, line in zip(range(800), file)]
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding(length=MAX_TOKENS)
    return tokenizer


def clean(text):
    text = unicodedata.normalize("NFKC", html.unescape(text))
    text = MASKED.sub(" ", TAG.sub(" ", text))
    return " ".join(ENDING.sub("", word) for word in WORD.findall(text.lower()))


class ComplaintStream(IterableDataset):
    """Reads the complaints line by line; the workers share the lines among themselves."""

    def __init__(self, path, tokenizer):
        self.path = path
        self.tokenizer = tokenizer

    def __iter__(self):
        worker = get_worker_info()
        with open(self.path, encoding="utf-8") as file:
            for number, line in enumerate(file):
                complaint = json.loads(line)
                tokens = self.tokenizer.encode(clean(complaint["text"])).ids
                if number % worker.num_workers == worker.id:
                    yield torch.tensor(tokens), complaint["department"]


class TextCNN(nn.Module):
    def __init__(self, vocabulary, width=32, maps=24):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        self.convolutions = nn.ModuleList(nn.Conv1d(width, maps, size) for size in (2, 3))
        self.classifier = nn.Linear(2 * maps, DEPARTMENTS)

    def forward(self, tokens):
        x = self.embedding(tokens).transpose(1, 2)
        maps = [F.relu(convolution(x)).amax(dim=2) for convolution in self.convolutions]
        return self.classifier(torch.cat(maps, dim=1))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "complaints.jsonl")
        make_complaints(path)
        tokenizer = train_tokenizer(path)
        loader = DataLoader(ComplaintStream(path, tokenizer), batch_size=BATCH_SIZE, num_workers=WORKERS)
        model = TextCNN(tokenizer.get_vocab_size())
        optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

        step_times = []
        losses = []
        last = time.perf_counter()
        for tokens, department in loader:
            loss = F.cross_entropy(model(tokens), department)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-20:]):.6f}")


if __name__ == "__main__":
    main()
