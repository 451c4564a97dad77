"""What `stepscope record` sees of a training step's gradients."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("torch", reason="gradients are PyTorch's")

from stepscope.profiler._gradients import training_facts  # noqa: E402


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(5000, 4)
        self.frozen = torch.nn.Linear(4, 8)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.frozen(self.words(tokens)))


@pytest.fixture(autouse=True)
def no_other_models():
    gc.collect()


def of_model(model, optimizers, tokens):
    model(tokens).sum().backward()
    return training_facts(torch, optimizers)


def test_gradients_that_no_optimizer_reads():
    model = Model()
    words = torch.optim.SGD(model.words.parameters(), lr=0.1)
    head = torch.optim.SGD(model.head.parameters(), lr=0.1)
    facts = of_model(model, [words, head], torch.tensor([1, 2, 2]))
    assert facts["gradients"] == 20_000 + 40 + 18
    assert facts["unread"] == {"parameters": 2, "elements": 40, "names": ["frozen.bias", "frozen.weight"]}
    assert facts["anomaly"] is False and facts["deterministic"] is False


def test_gradients_of_data():
    data = torch.ones(6, 4, requires_grad=True)
    tokens = torch.tensor([1, 2])
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    (model.frozen(data).sum() + model(tokens).sum()).backward()
    facts = training_facts(torch, [optimizer])
    assert facts["inputs"] == {"tensors": 1, "elements": 24, "shape": "[6, 4]"}
    assert facts["unread"]["parameters"] == 0
    data.grad = None
    assert training_facts(torch, [optimizer])["inputs"] == {"tensors": 0, "elements": 0, "shape": ""}


def test_rows_of_an_embedding_with_a_gradient():
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    facts = of_model(model, [optimizer], torch.tensor([[7, 8], [9, 7]]))
    assert facts["embeddings"] == [{"name": "words.weight", "rows": 5000, "touched": 3, "elements": 20_000, "bytes": 80_000}]
    assert facts["unread"]["parameters"] == 0


def test_small_and_sparse_embeddings_are_left_out():
    small, sparse = torch.nn.Embedding(999, 4), torch.nn.Embedding(5000, 4, sparse=True)
    (small(torch.tensor([1])).sum() + sparse(torch.tensor([1])).sum()).backward()
    assert training_facts(torch, [])["embeddings"] == []


def test_switches():
    with torch.autograd.set_detect_anomaly(True):
        assert training_facts(torch, [])["anomaly"] is True
