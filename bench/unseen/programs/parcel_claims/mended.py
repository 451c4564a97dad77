"""Answers claims about damaged parcels: scores each from its text and the parcel's numbers."""
import logging
import random
import statistics
import time

import torch
from torch import nn

SEED = 83
REQUESTS = 1800
CLAIMS = 32
WORDS = 24
VOCABULARY = 4096
NUMBERS = 12
WIDTH = 192
ANSWERS = ["pay", "repair", "refuse", "ask", "inspect"]
DAMAGES = "broken wet torn opened crushed lost scratched late burnt dented".split()
THINGS = "vase lamp book phone jacket mirror bottle guitar chair picture plate watch".split()
FILLERS = "the a my was when it came box and very please help inside arrived courier left".split()

logging.basicConfig(level=logging.INFO, format="%(message)s")
logger = logging.getLogger("claims")


class ClaimText:
    """Turns the words of a claim into numbers by hashing them."""

    def number(self, word):
        value = 0
        for letter in word:
            value = (value * 31 + ord(letter)) % VOCABULARY
        return max(value, 1)

    def __init__(self):
        self.known = {}

    def encode(self, text):
        numbers = []
        for word in text.lower().split()[:WORDS]:
            if word not in self.known:
                self.known[word] = self.number(word)
            numbers.append(self.known[word])
        return numbers + [0] * (WORDS - len(numbers))


class ClaimModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag(VOCABULARY, WIDTH, mode="mean", padding_idx=0)
        self.numbers = nn.Sequential(nn.BatchNorm1d(NUMBERS), nn.Linear(NUMBERS, WIDTH))
        self.body = nn.Sequential(
            nn.Linear(2 * WIDTH, 2048), nn.ReLU(),
            nn.Linear(2048, 2048), nn.ReLU(),
            nn.Linear(2048, 512), nn.ReLU(),
        )
        self.head = nn.Linear(512, len(ANSWERS))

    def forward(self, words, numbers):
        together = torch.cat([self.words(words), self.numbers(numbers)], dim=1)
        return self.head(self.body(together))


class ClaimDesk:
    def __init__(self, model):
        self.model = model.eval()
        self.text = ClaimText()
        self.answered = 0

    @torch.inference_mode()
    def answer(self, claims):
        words = torch.tensor([self.text.encode(claim["text"]) for claim in claims])
        numbers = torch.tensor([claim["numbers"] for claim in claims])
        scores = self.model(words, numbers)
        chances = scores.softmax(dim=1)
        logger.debug("numbers %s chances %s", numbers, chances)
        sure, chosen = chances.max(dim=1)
        self.answered += len(claims)
        return [{"answer": ANSWERS[choice], "sure": round(value, 4)}
                for choice, value in zip(chosen.tolist(), sure.tolist())]


def make_claim(rng):
    words = [rng.choice(FILLERS) for _ in range(rng.randint(8, 20))]
    words[rng.randrange(len(words))] = rng.choice(DAMAGES)
    words[rng.randrange(len(words))] = rng.choice(THINGS)
    return {"text": " ".join(words), "numbers": [rng.gauss(0, 1) for _ in range(NUMBERS)]}


def main():
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    desk = ClaimDesk(ClaimModel())
    claims = [make_claim(rng) for _ in range(2000)]
    counts = dict.fromkeys(ANSWERS, 0)
    request_times, sure = [], []
    for request in range(REQUESTS):
        batch = rng.sample(claims, CLAIMS)
        start = time.perf_counter()
        answers = desk.answer(batch)
        request_times.append(time.perf_counter() - start)
        for answer in answers:
            counts[answer["answer"]] += 1
            sure.append(answer["sure"])
        if (request + 1) % 600 == 0:
            logger.info(f"{desk.answered} claims answered, surest {max(sure[-8000:]):.3f}")

    print(counts)
    print(f"step_ms={statistics.median(request_times[5:]) * 1000:.3f}")
    print(f"result={statistics.mean(sure):.6f}")


if __name__ == "__main__":
    main()
