"""Three models of usual kinds, each with a training step: a residual network on images, a language model, a vision transformer."""

import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402


class Residual(nn.Module):
    def __init__(self, taken, given, stride):
        super().__init__()
        self.first = nn.Conv2d(taken, given, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(given, given, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(given), nn.BatchNorm2d(given)])
        self.skip = nn.Identity()
        if stride > 1 or taken != given:
            self.skip = nn.Sequential(nn.Conv2d(taken, given, 1, stride, bias=False), nn.BatchNorm2d(given))

    def forward(self, images):
        out = functional.relu(self.norms[0](self.first(images)))
        return functional.relu(self.norms[1](self.second(out)) + self.skip(images))


class ResNet(nn.Module):
    """ResNet-18, a quarter as wide."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        taken = 16
        for given, stride in ((16, 1), (32, 2), (64, 2), (128, 2)):
            layers += [Residual(taken, given, stride), Residual(given, given, 1)]
            taken = given
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(taken, 10))

    def forward(self, images):
        return self.layers(images)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.taken, self.given = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, tokens):
        batch, length, width = tokens.shape
        parts = self.taken(self.norms[0](tokens)).split(width, 2)
        query, key, value = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(2, 3) / (width // self.heads) ** 0.5
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        seen = scores.masked_fill(hidden, float("-inf")).softmax(3) @ value
        tokens = tokens + self.given(seen.transpose(1, 2).reshape(batch, length, width))
        return tokens + self.narrow(functional.gelu(self.wide(self.norms[1](tokens))))


class Language(nn.Module):
    """The parts of GPT-2, small."""

    def __init__(self, words=1000, width=96, length=40):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, 6) for _ in range(3)))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        out = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        return functional.linear(self.norm(self.blocks(out)), self.words.weight)


class Vision(nn.Module):
    """A vision transformer of PyTorch's own layers."""

    def __init__(self, width=80):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        layer = nn.TransformerEncoderLayer(width, 5, 4 * width, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.out = nn.Linear(width, 10)

    def forward(self, images):
        patches = self.patches(images).flatten(2).transpose(1, 2)
        return self.out(self.layers(torch.cat([self.first.expand(len(images), -1, -1), patches], 1))[:, 0])


def image_step(model, optimizer, batch):
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(torch.randn(batch, 3, 64, 64)), torch.randint(0, 10, (batch,)))
    loss.backward()
    optimizer.step()


def language_step(model, optimizer, batch):
    optimizer.zero_grad()
    tokens = torch.randint(0, 1000, (batch, 40))
    out = model(tokens)
    functional.cross_entropy(out[:, :-1].reshape(-1, out.shape[2]), tokens[:, 1:].reshape(-1)).backward()
    optimizer.step()


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)


MODELS = {
    "resnet": (ResNet, sgd, image_step),
    "language": (Language, torch.optim.AdamW, language_step),
    "vision": (Vision, torch.optim.AdamW, image_step),
}
