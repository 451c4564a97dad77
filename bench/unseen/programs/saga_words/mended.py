"""A small transformer that learns the sentences of old sagas word piece by word piece."""
import math
import random
import statistics
import time

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler

SEED = 23
SENTENCES = 2400
VOCABULARY = 500
WIDTH = 128
HEADS = 4
LAYERS = 3
MAX_TOKENS = 160
BATCH_SIZE = 32
EPOCHS = 2
LEARNING_RATE = 1e-3
NAMES = "Egil Gudrun Njal Hallgerd Grettir Snorri Unn Kjartan Bolli Thorgerd".split()
DEEDS = "sailed rode spoke fought dreamed sang slept swore waited laughed".split()
PLACES = "fjord hall heath island market farm river thing glacier ship".split()
LINKS = ["and then", "but soon", "while", "because", "until", "so that"]


def make_sentences(rng):
    sentences = []
    for _ in range(SENTENCES):
        clauses = min(2 + int(rng.expovariate(0.5)), 11)
        parts = []
        for number in range(clauses):
            name = rng.choice(NAMES)
            deed = DEEDS[(NAMES.index(name) + rng.choice([0, 3])) % 10]
            parts.append(f"{name} {deed} at the {rng.choice(PLACES)}")
            if number < clauses - 1:
                parts.append(rng.choice(LINKS))
        sentences.append(" ".join(parts) + " .")
    return sentences


def train_tokenizer(sentences):
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, show_progress=False,
                                  special_tokens=["[PAD]", "[UNK]", "[START]"])
    tokenizer.train_from_iterator(sentences, trainer)
    return tokenizer


class SagaDataset(Dataset):
    def __init__(self, sentences, tokenizer):
        start = tokenizer.token_to_id("[START]")
        self.tokens = [torch.tensor([start] + encoding.ids[:MAX_TOKENS - 1])
                       for encoding in tokenizer.encode_batch(sentences)]

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return self.tokens[index]


def collate(sentences):
    return pad_sequence(sentences, batch_first=True, padding_value=0)


class SimilarLengths(Sampler):
    """Batches of sentences of about the same length, in random order."""

    def __init__(self, dataset):
        lengths = torch.tensor([len(tokens) for tokens in dataset.tokens])
        self.lengths = lengths.float()

    def __len__(self):
        return math.ceil(len(self.lengths) / BATCH_SIZE)

    def __iter__(self):
        order = (self.lengths + torch.rand(len(self.lengths))).argsort()
        batches = order.split(BATCH_SIZE)
        for number in torch.randperm(len(batches)).tolist():
            yield batches[number].tolist()


class SagaModel(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH, padding_idx=0)
        self.places = nn.Parameter(torch.randn(MAX_TOKENS, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                           batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, vocabulary)

    def forward(self, tokens):
        length = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        x = self.words(tokens) * math.sqrt(WIDTH) + self.places[:length]
        return self.head(self.layers(x, mask=mask, is_causal=True))


def main():
    torch.manual_seed(SEED)
    sentences = make_sentences(random.Random(SEED))
    tokenizer = train_tokenizer(sentences)
    dataset = SagaDataset(sentences, tokenizer)
    loader = DataLoader(dataset, batch_sampler=SimilarLengths(dataset), collate_fn=collate)
    model = SagaModel(tokenizer.get_vocab_size())
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

    losses, weights, step_times = [], [], []
    last = time.perf_counter()
    for epoch in range(EPOCHS):
        for tokens in loader:
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            weights.append((tokens[:, 1:] > 0).sum().item())
            now = time.perf_counter()
            step_times.append(now - last)
            last = now
            if len(losses) % 30 == 0:
                print(f"step {len(losses)}: loss {statistics.fmean(losses[-30:], weights[-30:]):.4f}")

    print(f"step_ms={statistics.mean(step_times[3:]) * 1000:.2f}")
    print(f"result={statistics.fmean(losses[-30:], weights[-30:]):.6f}")


if __name__ == "__main__":
    main()
