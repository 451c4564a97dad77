"""Sorts the notes of parcel customers into the departments that have to answer them."""
import random
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 74
NOTES = 9600
WORDS = 4000
DEPARTMENTS = ["delivery", "damage", "refund", "address", "customs", "praise"]
MAX_WORDS = 48
BATCH_SIZE = 64
WIDTH = 128
EPOCHS = 1
LEARNING_RATE = 1e-3
SOUNDS = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "du", "fa", "gri"]


def make_words(chance):
    words = set()
    while len(words) < WORDS:
        words.add("".join(chance.choices(SOUNDS, k=chance.randint(2, 5))))
    return sorted(words)


def make_notes():
    chance = random.Random(SEED)
    words = make_words(chance)
    special = [chance.sample(words, 300) for _ in DEPARTMENTS]
    notes = []
    for _ in range(NOTES):
        department = chance.randrange(len(DEPARTMENTS))
        length = chance.randint(36, 60)
        common = chance.choices(words, k=length - length // 6)
        typical = chance.choices(special[department], k=length // 6)
        text = common + typical
        chance.shuffle(text)
        notes.append((" ".join(text).capitalize() + ".", department))
    return notes


class Vocabulary:
    def __init__(self, notes):
        words = set()
        for text, _ in notes:
            words.update(self.split(text))
        self.words = ["<padding>", "<unknown>"] + sorted(words)
        self.number = {word: place for place, word in enumerate(self.words)}

    @staticmethod
    def split(text):
        return text.lower().strip(".").split()

    def numbers(self, text):
        return [self.number.get(word, 1) for word in self.split(text)[:MAX_WORDS]]


class NoteDataset(Dataset):
    def __init__(self, notes, vocabulary):
        self.notes = notes
        self.vocabulary = vocabulary

    def __len__(self):
        return len(self.notes)

    def __getitem__(self, index):
        text, department = self.notes[index]
        numbers = self.vocabulary.numbers(text)
        numbers += [0] * (MAX_WORDS - len(numbers))
        return torch.tensor(numbers), department


class NoteModel(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.words = nn.Embedding(words, WIDTH, padding_idx=0)
        self.places = nn.Parameter(0.02 * torch.randn(MAX_WORDS, WIDTH))
        layer = nn.TransformerEncoderLayer(
            WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, len(DEPARTMENTS))

    def forward(self, numbers):
        padding = numbers == 0
        x = self.encoder(self.words(numbers) + self.places, src_key_padding_mask=padding)
        kept = (~padding).unsqueeze(2).float()
        return self.head((x * kept).sum(dim=1) / kept.sum(dim=1))


def train_step(model, optimizer, numbers, departments):
    loss = F.cross_entropy(model(numbers), departments)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    notes = make_notes()
    vocabulary = Vocabulary(notes)
    loader = DataLoader(
        NoteDataset(notes, vocabulary), batch_size=BATCH_SIZE, shuffle=True,
        num_workers=1, persistent_workers=True, drop_last=True,
    )
    model = NoteModel(len(vocabulary.words))
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True)

    step_times = []
    losses = []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for numbers, departments in loader:
            losses.append(train_step(model, optimizer, numbers, departments))
            now = time.perf_counter()
            step_times.append(now - last)
            last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
