"""Each change is applied, and undone."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("torch", reason="the changes are PyTorch's")

from stepscope.trial import changes  # noqa: E402
from stepscope.trial._calls import Calls  # noqa: E402
from stepscope.trial._facts import Facts  # noqa: E402

OWNERS = [
    torch, torch.optim.Optimizer, torch.optim.Adam, torch.optim.SGD, torch.nn.Module, torch.Tensor, torch.autograd, torch._C,
    torch.utils.data.DataLoader, torch.nn.parallel.DistributedDataParallel,
]  # fmt: skip


def state():
    told = {(owner, name): value for owner in OWNERS for name, value in vars(owner).items() if callable(value)}
    switches = torch.get_num_threads(), torch.is_anomaly_enabled(), torch.backends.cudnn.benchmark, torch.get_float32_matmul_precision()
    return told, switches


@pytest.fixture
def calls():
    made = Calls(torch)
    yield made
    made.remove()


def apply(key, calls, **program):
    changes.effects.clear()
    return changes.named(key).apply(changes.Target(torch, calls, {"cores": 2, "by": "optimizer", **program}))


@pytest.mark.parametrize("key", changes.KEYS)
def test_undoing_leaves_no_trace(key, calls):
    before = state()
    apply(key, calls)()
    after = state()
    assert {key for key in before[0] if before[0][key] is not after[0].get(key)} == set()
    assert before[1] == after[1]
    assert not (calls.first or calls.around or calls.arguments or calls.after)


def test_loaders(calls):
    data = torch.utils.data.TensorDataset(torch.arange(4.0))
    undo = apply("loader_workers", calls)
    loader = torch.utils.data.DataLoader(data, 2)
    undo()
    assert loader.num_workers == 2 and loader.persistent_workers
    assert torch.utils.data.DataLoader(data, 2).num_workers == 0
    assert changes.effects == ["DataLoader(num_workers=2, persistent_workers=True)"]


def test_loaders_of_streams_are_left_alone(calls):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(3))

    undo = apply("loader_workers", calls)
    assert torch.utils.data.DataLoader(Stream()).num_workers == 0
    undo()


def test_persistent_workers_and_prefetching(calls):
    data = torch.utils.data.TensorDataset(torch.arange(4.0))
    undo = apply("loader_persistent", calls)
    assert torch.utils.data.DataLoader(data, num_workers=1).persistent_workers
    assert not torch.utils.data.DataLoader(data).persistent_workers
    undo()
    undo = apply("loader_prefetch", calls)
    assert torch.utils.data.DataLoader(data, num_workers=1).prefetch_factor == 8
    undo()


@pytest.mark.parametrize(("key", "argument"), [("fused_optimizer", "fused"), ("foreach_optimizer", "foreach")])
@pytest.mark.parametrize("kind", [torch.optim.AdamW, torch.optim.SGD])
def test_optimizers(key, argument, kind, calls):
    import inspect

    if argument not in inspect.signature(kind.__init__).parameters:
        pytest.skip(f"this PyTorch's {kind.__name__} has no {argument}")
    model = torch.nn.Linear(2, 2)
    undo = apply(key, calls)
    try:
        made = kind(model.parameters(), lr=0.1, foreach=False)
    except RuntimeError as error:
        pytest.skip(str(error))  # this PyTorch cannot do so on a CPU
    finally:
        undo()
    assert made.param_groups[0][argument] is True
    model(torch.ones(1, 2)).sum().backward()
    made.step()


def test_gradients_become_none(calls):
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(1, 2)).sum().backward()
    undo = apply("zero_grad", calls)
    optimizer.zero_grad(set_to_none=False)
    undo()
    assert model.weight.grad is None


def test_threads(calls):
    before = torch.get_num_threads()
    undo = apply("one_thread", calls)
    torch.set_num_threads(2)
    assert torch.get_num_threads() == 1
    undo()
    assert torch.get_num_threads() == before


def test_anomaly_detection(calls):
    undo = apply("anomaly_off", calls)
    with pytest.warns(UserWarning), torch.autograd.detect_anomaly(check_nan=False):
        assert not torch.is_anomaly_enabled()
    undo()


def test_garbage_is_frozen_after_the_third_step(calls):
    value = torch.ones(1, requires_grad=True)
    before = gc.get_freeze_count()
    undo = apply("gc_freeze", calls)
    for _ in range(3):
        (value * 2).sum().backward()
    assert gc.get_freeze_count() > before
    undo()


def test_outermost_calls(calls):
    seen = []
    calls.after.append(seen.append)
    calls.install()
    inner = torch.nn.Linear(2, 2)
    outer = torch.nn.Sequential(inner, torch.nn.ReLU())
    outer(torch.ones(1, 2))
    inner(torch.ones(1, 2))
    torch.nn.ReLU()(torch.ones(1))  # no parameters: not the model
    outer(torch.ones(1, 2))
    assert seen == [0, 1, 0]


def test_inference_mode_is_for_models_in_eval_mode(calls):
    model = torch.nn.Linear(2, 2)
    undo = apply("inference", calls, by="forward")
    calls.install()
    assert model(torch.ones(1, 2)).requires_grad
    assert not model.eval()(torch.ones(1, 2)).requires_grad
    undo()


def test_channels_last(calls):
    model = torch.nn.Conv2d(3, 4, 3)
    undo = apply("channels_last", calls)
    calls.install()
    result = model(torch.ones(2, 3, 8, 8))
    assert result.is_contiguous(memory_format=torch.channels_last)
    undo()


def test_autocast(calls):
    model = torch.nn.Linear(2, 2)
    undo = apply("autocast", calls)
    calls.install()
    assert model(torch.ones(1, 2)).dtype == torch.bfloat16
    undo()


def test_ddp(calls):
    undo = apply("ddp_buffers", calls)
    with pytest.raises((RuntimeError, ValueError)):  # there is no process group; the argument was taken
        torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    undo()
    assert changes.effects == ["DistributedDataParallel(broadcast_buffers=False)"]


def test_facts(calls):
    owners = [torch.utils.data.DataLoader, torch.optim.Optimizer, torch.nn.parallel.DistributedDataParallel]
    kept = [(owner, "__init__", owner.__init__) for owner in owners] + [(k, "zero_grad", k.zero_grad) for k in (owners[1], torch.nn.Module)]
    try:
        facts = Facts(torch)
        model = torch.nn.Conv2d(1, 1, 1)
        optimizer = torch.optim.Adam(model.parameters())
        optimizer.zero_grad(set_to_none=False)
        torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(2)), num_workers=0)
        facts.look_at(model)
    finally:
        for owner, name, value in kept:
            setattr(owner, name, value)
    assert facts.optimizers[0].kind == "Adam" and facts.optimizers[0].given["parameters"] == 2
    assert facts.optimizers[0].place.startswith("trial_changes_test.py:")
    assert facts.loaders[0].given["num_workers"] == 0 and not facts.loaders[0].given["is_iterable"]
    assert facts.zeroed.startswith("trial_changes_test.py:") and facts.module["has_conv2d"]
