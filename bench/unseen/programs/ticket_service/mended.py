"""Sorts incoming support tickets into departments, a queue of them at a time."""
import statistics
import time

import numpy as np
import torch
from torch import nn

SEED = 97
WORDS = 5000
LONGEST = 128
DEPARTMENTS = ["billing", "delivery", "returns", "account", "technical", "other"]
WIDTH = 128
HEADS = 8
LAYERS = 3
QUEUES = 60
QUEUE_SIZE = 24
PAD = 0


def make_queues():
    """Most tickets are a line or two, some are long letters."""
    rng = np.random.default_rng(SEED)
    queues = []
    for _ in range(QUEUES):
        lengths = np.clip(rng.lognormal(3.2, 0.8, size=QUEUE_SIZE).astype(int), 4, LONGEST)
        queues.append([rng.zipf(1.3, size=length) % (WORDS - 1) + 1 for length in lengths])
    return queues


class TicketModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embedding = nn.Embedding(WORDS, WIDTH, padding_idx=PAD)
        self.position_embedding = nn.Embedding(LONGEST, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, dim_feedforward=4 * WIDTH, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, LAYERS)
        self.head = nn.Linear(WIDTH, len(DEPARTMENTS))

    def forward(self, words):
        padding = words == PAD
        positions = torch.arange(words.shape[1], device=words.device)
        x = self.word_embedding(words) + self.position_embedding(positions)
        x = self.encoder(x, src_key_padding_mask=padding)
        x = x.masked_fill(padding.unsqueeze(2), 0)
        return self.head(x.sum(dim=1) / (~padding).sum(dim=1, keepdim=True))


class TicketService:
    def __init__(self, model):
        self.model = model
        self.model.eval()
        self.sorted_tickets = {department: 0 for department in DEPARTMENTS}

    def prepare(self, tickets):
        longest = max(len(ticket) for ticket in tickets)
        words = torch.full((len(tickets), longest), PAD)
        for row, ticket in enumerate(tickets):
            words[row, :len(ticket)] = torch.from_numpy(ticket)
        return words

    @torch.no_grad()
    def sort(self, tickets):
        """Return the department and how sure we are, for each ticket."""
        logits = self.model(self.prepare(tickets))
        sureness, departments = logits.softmax(dim=1).max(dim=1)
        answers = []
        for number, sure in zip(departments.tolist(), sureness.tolist()):
            department = DEPARTMENTS[number]
            self.sorted_tickets[department] += 1
            answers.append((department, sure))
        return answers


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    queues = make_queues()
    service = TicketService(TicketModel())

    queue_times = []
    sureness = []
    for tickets in queues:
        started = time.perf_counter()
        answers = service.sort(tickets)
        queue_times.append(time.perf_counter() - started)
        sureness.extend(sure for _, sure in answers)

    print(f"step_ms={statistics.median(queue_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(sureness):.6f}")


if __name__ == "__main__":
    main()
