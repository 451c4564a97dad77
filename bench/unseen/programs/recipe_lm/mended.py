"""Trains a small language model on recipes, with a byte-pair tokeniser."""
import random
import statistics
import time

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional as F

SEED = 31
RECIPES = 1500
VOCABULARY = 6000
CONTEXT = 48
BATCH_SIZE = 24
STEPS = 50
WIDTH = 64
HEADS = 4
LAYERS = 1
SMOOTHING = 0.1
LEARNING_RATE = 1e-3

SYLLABLES = """ba be bo ca co cu da de di do fa fe fi ga go gu la le li lo ma me mi mo
na ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi vo za""".split()
STEPS_OF_COOKING = """add the TWO; stir in TWO and TWO; bake with TWO until brown; cut the TWO
into small pieces; boil TWO for ten minutes; serve with TWO; mix TWO with a spoon of TWO;
let the TWO rest; heat the oil and fry TWO; season with TWO""".replace("\n", " ").split("; ")


def make_recipes():
    rng = random.Random(SEED)
    ingredients = ["".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))) for _ in range(5500)]
    recipes = []
    for _ in range(RECIPES):
        favourites = rng.sample(ingredients, 8)
        sentences = []
        for _ in range(rng.randint(4, 8)):
            sentence = rng.choice(STEPS_OF_COOKING)
            while "TWO" in sentence:
                sentence = sentence.replace("TWO", rng.choice(favourites), 1)
            sentences.append(sentence)
        recipes.append(" . ".join(sentences))
    return recipes


def train_tokenizer(recipes):
    tokenizer = Tokenizer(models.BPE(unk_token="[unk]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=["[unk]", "[end]"], show_progress=False
    )
    tokenizer.train_from_iterator(recipes, trainer)
    return tokenizer


def make_windows(tokenizer, recipes):
    """One long row of tokens, cut into windows of CONTEXT tokens and the one after."""
    end = tokenizer.token_to_id("[end]")
    stream = []
    for encoding in tokenizer.encode_batch(recipes):
        stream.extend(encoding.ids)
        stream.append(end)
    count = (len(stream) - 1) // CONTEXT
    return torch.tensor(stream[:count * CONTEXT + 1]).unfold(0, CONTEXT + 1, CONTEXT)


class RecipeModel(nn.Module):
    def __init__(self, vocabulary_size):
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary_size, WIDTH)
        self.position_embedding = nn.Embedding(CONTEXT, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, dim_feedforward=4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, vocabulary_size)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(CONTEXT))
        self.register_buffer("positions", torch.arange(CONTEXT))

    def forward(self, tokens):
        x = self.token_embedding(tokens) + self.position_embedding(self.positions)
        return self.head(self.encoder(x, mask=self.mask, is_causal=True))


def smoothed_loss(logits, targets):
    """Cross entropy with label smoothing."""
    logits, targets = logits.flatten(0, 1), targets.flatten()
    return F.cross_entropy(logits, targets, label_smoothing=SMOOTHING)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    recipes = make_recipes()
    tokenizer = train_tokenizer(recipes)
    windows = make_windows(tokenizer, recipes)
    model = RecipeModel(tokenizer.get_vocab_size())
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)

    step_times = []
    losses = []
    last = time.perf_counter()
    for step in range(STEPS):
        batch = windows[torch.randint(len(windows), (BATCH_SIZE,))]
        optimizer.zero_grad()
        loss = smoothed_loss(model(batch[:, :-1]), batch[:, 1:])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
