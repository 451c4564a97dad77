"""What `stepscope record` sees of a training step's gradients."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("torch", reason="gradients are PyTorch's")

from stepscope.profiler._gradients import Training  # noqa: E402


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(5000, 4)
        self.frozen = torch.nn.Linear(4, 8)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.frozen(self.words(tokens)))


@pytest.fixture(autouse=True)
def no_other_gradients():
    """Of other tests: what is kept alive, e.g. by the traceback of a test that failed, loses its gradient."""
    gc.collect()
    for kept in gc.get_objects():
        if issubclass(type(kept), torch.Tensor) and kept.is_leaf:
            kept.grad = None


def of_model(model, optimizers, tokens):
    model(tokens).sum().backward()
    return facts_of(optimizers)


def facts_of(optimizers):
    """Facts once each of the optimizers has made a step, the first of them twice."""
    training = Training(torch, optimizers[0])
    for optimizer in optimizers[1:]:
        training.after(optimizer)
    return training.told()


def test_gradients_that_no_optimizer_reads():
    model = Model()
    words = torch.optim.SGD(model.words.parameters(), lr=0.1)
    head = torch.optim.SGD(model.head.parameters(), lr=0.1)
    facts = of_model(model, [words, head], torch.tensor([1, 2, 2]))
    assert facts["gradients"] == 20_000 + 40 + 18
    assert facts["unread"] == {"parameters": 2, "elements": 40, "names": ["frozen.bias", "frozen.weight"]}
    assert facts["anomaly"] is False and facts["deterministic"] is False


def test_parameter_groups_by_their_settings():
    model = Model()
    groups = [{"params": [p], "lr": 0.1 if p.dim() > 1 else 0.2} for p in model.parameters()]
    many, one = torch.optim.SGD(groups, lr=1.0), torch.optim.SGD(model.head.parameters(), lr=0.1)
    assert of_model(model, [one, many], torch.tensor([1]))["groups"] == {"all": 5, "different": 2}
    many.param_groups[0]["lr"] = torch.tensor(0.1)
    many.param_groups[1]["lr"] = torch.tensor(0.1)
    assert facts_of([many])["groups"] == {"all": 5, "different": 4}


def test_gradients_that_another_optimizer_reads_later():
    model = Model()
    words = torch.optim.SGD(model.words.parameters(), lr=0.1)
    rest = torch.optim.SGD([*model.head.parameters(), *model.frozen.parameters()], lr=0.1)
    model(torch.tensor([1, 2, 2])).sum().backward()
    training = Training(torch, words)
    assert training.told()["unread"]["parameters"] == 4
    assert training.told(complete=False)["unread"] == {"parameters": 0, "elements": 0, "names": []}
    training.after(rest)
    assert training.told()["unread"]["parameters"] == 0


def test_gradients_that_are_thrown_away_before_their_optimizer_steps():
    model = Model()
    words = torch.optim.SGD(model.words.parameters(), lr=0.1)
    rest = torch.optim.SGD([*model.head.parameters(), *model.frozen.parameters()], lr=0.1)
    model(torch.tensor([1, 2, 2])).sum().backward()
    training = Training(torch, words)
    rest.zero_grad(set_to_none=True)
    model(torch.tensor([3])).sum().backward()
    training.after(rest)
    assert training.told()["unread"]["parameters"] == 4


def test_a_tensor_that_an_optimizer_has_is_no_data():
    weight = torch.zeros(1, requires_grad=True)
    model = Model()
    optimizer, of_weight = torch.optim.SGD(model.parameters(), lr=0.1), torch.optim.SGD([weight], lr=0.1)
    (model(torch.tensor([1])).sum() * weight).sum().backward()
    assert facts_of([optimizer, of_weight])["inputs"]["tensors"] == 0


def test_gradients_of_data():
    data = torch.ones(6, 4, requires_grad=True)
    tokens = torch.tensor([1, 2])
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    (model.frozen(data).sum() + model(tokens).sum()).backward()
    facts = facts_of([optimizer])
    assert facts["inputs"] == {"tensors": 1, "elements": 24, "shape": "[6, 4]"}
    assert facts["unread"]["parameters"] == 0
    data.grad = None
    assert facts_of([optimizer])["inputs"] == {"tensors": 0, "elements": 0, "shape": ""}


def test_rows_of_an_embedding_with_a_gradient():
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    facts = of_model(model, [optimizer], torch.tensor([[7, 8], [9, 7]]))
    assert facts["embeddings"] == [{"name": "words.weight", "rows": 5000, "touched": 3, "elements": 20_000, "bytes": 80_000}]
    assert facts["unread"]["parameters"] == 0


def test_small_and_sparse_embeddings_are_left_out():
    small, sparse = torch.nn.Embedding(999, 4), torch.nn.Embedding(5000, 4, sparse=True)
    (small(torch.tensor([1])).sum() + sparse(torch.tensor([1])).sum()).backward()
    assert facts_of([torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)])["embeddings"] == []


def test_switches():
    with torch.autograd.set_detect_anomaly(True):
        assert facts_of([torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)])["anomaly"] is True
