"""Low-rank adaptation of a support-ticket classifier whose base layers run on 8-bit activations."""
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TRAIN_SECONDS = 11
VOCAB = 4000
TOKENS = 48
WIDTH = 384
HEADS = 6
LAYERS = 2
QUEUES = 12
BATCH_SIZE = 12
RANK = 4
ACTIVATION_RANGE = 6.0


class Int8ActivationLinear(torch.autograd.Function):
    """y = quantise(x) W^T + b with a straight-through estimator for the rounding."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        rounded = torch.round(x * (127.0 / ACTIVATION_RANGE)).clamp_(-127, 127).mul_(ACTIVATION_RANGE / 127.0)
        ctx.save_for_backward(rounded, weight)
        return F.linear(rounded, weight, bias)

    @staticmethod
    def backward(ctx, grad_output):
        rounded, weight = ctx.saved_tensors
        flat = grad_output.reshape(-1, grad_output.shape[-1])
        grad_x = grad_output @ weight
        grad_weight = flat.t() @ rounded.reshape(-1, rounded.shape[-1])
        grad_bias = flat.sum(dim=0)
        return grad_x, grad_weight, grad_bias


class AdaptedLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.base = nn.Linear(in_features, out_features)
        self.down = nn.Parameter(torch.randn(RANK, in_features) / in_features ** 0.5)
        self.up = nn.Parameter(torch.zeros(out_features, RANK))

    def forward(self, x):
        y = Int8ActivationLinear.apply(x, self.base.weight, self.base.bias)
        return y + F.linear(F.linear(x, self.down), self.up)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_attention = nn.LayerNorm(WIDTH)
        self.norm_mlp = nn.LayerNorm(WIDTH)
        self.qkv = AdaptedLinear(WIDTH, 3 * WIDTH)
        self.out = AdaptedLinear(WIDTH, WIDTH)
        self.wide = AdaptedLinear(WIDTH, 4 * WIDTH)
        self.narrow = AdaptedLinear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, tokens, _ = x.shape
        qkv = self.qkv(self.norm_attention(x)).view(batch, tokens, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, tokens, WIDTH)
        x = x + self.out(mixed)
        return x + self.narrow(F.relu(self.wide(self.norm_mlp(x))))


class TicketClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, WIDTH)
        self.position = nn.Parameter(torch.randn(TOKENS, WIDTH) * 0.02)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, QUEUES)

    def forward(self, ids):
        x = self.embedding(ids) + self.position
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).mean(dim=1))


def freeze_base(model):
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.endswith((".down", ".up")) or name.startswith("head."))
    return [p for p in model.parameters() if p.requires_grad]


def make_tickets(count=4000):
    generator = torch.Generator().manual_seed(17)
    queue = torch.randint(QUEUES, (count,), generator=generator)
    ids = torch.randint(VOCAB, (count, TOKENS), generator=generator)
    topical = torch.rand(count, TOKENS, generator=generator) < 0.3
    topic_word = queue[:, None] * 20 + torch.randint(20, (count, TOKENS), generator=generator)
    return torch.where(topical, topic_word, ids), queue


def main():
    torch.set_num_threads(2)
    torch.manual_seed(2)
    ids, queue = make_tickets()
    model = TicketClassifier()
    trainable = freeze_base(model)
    optimizer = torch.optim.AdamW(trainable, lr=1e-3)
    picker = torch.Generator().manual_seed(29)
    losses, times = [], []
    started = time.perf_counter()
    while time.perf_counter() - started < TRAIN_SECONDS:
        begin = time.perf_counter()
        rows = torch.randint(len(ids), (BATCH_SIZE,), generator=picker)
        loss = F.cross_entropy(model(ids[rows]), queue[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append((time.perf_counter() - begin) * 1000)
    print(f"trainable={sum(p.numel() for p in trainable)} steps={len(times)} last_loss={losses[-1]:.3f}")
    print(f"step_ms={statistics.median(times[3:]):.2f}")
    print(f"result={sum(losses[:15]) / 15:.4f}")


if __name__ == "__main__":
    main()
