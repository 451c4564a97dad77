"""Suggestion service: proposes words for a gap in short user phrases."""
import os
import random
import statistics
import tempfile
import time

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from torch import nn

TRAIN_SECONDS = 11
VOCAB_WORDS = 48000
PHRASES_PER_REQUEST = 6
DIM = 144


def make_words(count, seed):
    rng = random.Random(seed)
    onsets = ["b", "br", "d", "f", "g", "k", "kl", "l", "m", "n", "p", "r", "s", "st", "t", "v", "z"]
    vowels = ["a", "e", "i", "o", "u", "ai", "ou"]
    words = set()
    while len(words) < count:
        syllables = rng.randint(2, 4)
        words.add("".join(rng.choice(onsets) + rng.choice(vowels) for _ in range(syllables)))
    return sorted(words)


def write_tokenizer(path, words):
    vocab = {"[PAD]": 0, "[UNK]": 1, "[GAP]": 2}
    for word in words:
        vocab[word] = len(vocab)
    tokenizer = Tokenizer(WordLevel(vocab, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    tokenizer.save(path)


class GapModel(nn.Module):
    def __init__(self, vocab_size, layers=3):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, DIM, padding_idx=0)
        self.positions = nn.Embedding(64, DIM)
        layer = nn.TransformerEncoderLayer(DIM, 6, 4 * DIM, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(DIM)
        self.out = nn.Linear(DIM, vocab_size)

    def forward(self, ids, gap_positions):
        hidden = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        hidden = self.encoder(hidden, src_key_padding_mask=ids == 0)
        rows = torch.arange(ids.shape[0])
        return self.out(self.norm(hidden[rows, gap_positions]))


class SuggestionService:
    def __init__(self, tokenizer_path, house_rules):
        self.tokenizer = Tokenizer.from_file(tokenizer_path)
        self.gap_id = self.tokenizer.token_to_id("[GAP]")
        self.house_rules = house_rules
        self.model = GapModel(self.tokenizer.get_vocab_size()).eval()

    def forbidden_ids(self, customer):
        """Ids of the words this customer never wants to see suggested."""
        ids = (self.tokenizer.token_to_id(word) for word in self.house_rules[customer])
        return [i for i in ids if i is not None]

    @torch.inference_mode()
    def suggest(self, customer, phrases, top=5):
        encoded = self.tokenizer.encode_batch(phrases)
        ids = torch.tensor([item.ids for item in encoded])
        gaps = (ids == self.gap_id).int().argmax(dim=1)
        logits = self.model(ids, gaps)
        logits[:, self.forbidden_ids(customer)] = float("-inf")
        best = logits.topk(top, dim=-1)
        words = [[self.tokenizer.id_to_token(i) for i in row] for row in best.indices.tolist()]
        return words, best.values


class RequestStream:
    """Endless deterministic traffic from a handful of customers."""

    def __init__(self, words, customers, seed):
        self.words = words
        self.customers = customers
        self.rng = random.Random(seed)

    def phrase(self):
        picked = self.rng.choices(self.words, k=self.rng.randint(20, 40))
        picked[self.rng.randrange(len(picked))] = "[GAP]"
        return " ".join(picked)

    def next(self):
        return self.rng.choice(self.customers), [self.phrase() for _ in range(PHRASES_PER_REQUEST)]


def main():
    torch.set_num_threads(2)
    torch.manual_seed(41)
    words = make_words(VOCAB_WORDS, seed=1)
    rng = random.Random(9)
    house_rules = {f"customer-{i}": rng.sample(words, 40) + ["unlisted"] for i in range(10)}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tokenizer.json")
        write_tokenizer(path, words)
        service = SuggestionService(path, house_rules)
    stream = RequestStream(words, sorted(house_rules), seed=17)

    scores, times = [], []
    start = time.perf_counter()
    while time.perf_counter() - start < TRAIN_SECONDS:
        customer, phrases = stream.next()
        begin = time.perf_counter()
        suggestions, values = service.suggest(customer, phrases)
        times.append(time.perf_counter() - begin)
        scores.append(values.mean().item())

    print(f"requests={len(times)} sample={' '.join(suggestions[0])}")
    print(f"step_ms={statistics.median(times[3:]) * 1000:.2f}")
    print(f"result={sum(scores[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
