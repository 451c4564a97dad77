"""Teaches a recurrent network to repeat a sequence of symbols after a long pause."""
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.parametrizations import orthogonal

SEED = 31
SYMBOLS = 8
BLANK = SYMBOLS
GO = SYMBOLS + 1
COPY_LENGTH = 8
PAUSE = 24
BATCH_SIZE = 64
HIDDEN = 160
STEPS = 70
LEARNING_RATE = 1e-4


class ModReLU(nn.Module):
    """A ReLU of the amount, which keeps the sign."""

    def __init__(self, size):
        super().__init__()
        self.bias = nn.Parameter(torch.full((size,), -0.01))

    def forward(self, x):
        return torch.sign(x) * F.relu(x.abs() + self.bias)


class OrthogonalCell(nn.Module):
    """A recurrent cell whose hidden weights stay orthogonal, so that gradients neither vanish nor explode."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.enter = nn.Linear(inputs, hidden)
        self.recur = orthogonal(nn.Linear(hidden, hidden, bias=False), orthogonal_map="cayley")
        self.activation = ModReLU(hidden)

    def forward(self, projected, state):
        return self.activation(projected + self.recur(state))


class CopyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS + 2, 32)
        self.cell = OrthogonalCell(32, HIDDEN)
        self.head = nn.Linear(HIDDEN, SYMBOLS + 1)

    def forward(self, symbols):
        projected = self.cell.enter(self.embedding(symbols))
        state = projected.new_zeros(len(symbols), HIDDEN)
        states = []
        for moment in projected.unbind(1):
            state = self.cell(moment, state)
            states.append(state)
        return self.head(torch.stack(states, dim=1))


def make_batch():
    """Symbols, a pause, the sign to go and room for the answer; the target is blank until the sign."""
    symbols = torch.randint(0, SYMBOLS, (BATCH_SIZE, COPY_LENGTH))
    pause = torch.full((BATCH_SIZE, PAUSE), BLANK)
    room = torch.full((BATCH_SIZE, COPY_LENGTH), BLANK)
    sign = torch.full((BATCH_SIZE, 1), GO)
    inputs = torch.cat([symbols, pause, sign, room[:, 1:]], dim=1)
    target = torch.cat([room, pause, symbols], dim=1)
    return inputs, target


def train_step(model, optimizer):
    inputs, target = make_batch()
    logits = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()
    clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    right = (logits[:, -COPY_LENGTH:].argmax(-1) == target[:, -COPY_LENGTH:]).float().mean()
    return loss.item(), right.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    model = CopyNet()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=LEARNING_RATE, alpha=0.99)

    step_times = []
    losses = []
    for step in range(1, STEPS + 1):
        started = time.perf_counter()
        loss, right = train_step(model, optimizer)
        losses.append(loss)
        step_times.append(time.perf_counter() - started)
        if step % 10 == 0:
            print(f"step {step}: loss {loss:.4f}, {right:.1%} of the symbols repeated")

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
