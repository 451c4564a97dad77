"""`tune.dataloader`: what it recommends, what it refuses, and that it leaves the loader alone."""

from __future__ import annotations

import random
import time

import pytest

torch = pytest.importorskip("torch", reason="loaders are PyTorch's")
numpy = pytest.importorskip("numpy")

from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler, TensorDataset  # noqa: E402

from stepscope import UsageError, tune  # noqa: E402
from stepscope.tune import _memory, _refusals  # noqa: E402


class Slow(Dataset):
    """Waits instead of working, so that workers help on any machine."""

    def __init__(self, seconds=0.004, number=64):
        self.seconds, self.number = seconds, number
        self.own = random.Random(3)
        self.numpys = numpy.random.default_rng(3)

    def __len__(self):
        return self.number

    def __getitem__(self, index):
        time.sleep(self.seconds)
        self.own.random(), self.numpys.random(), random.random(), numpy.random.rand(), torch.rand(())
        return torch.full((8,), float(index))


def states(loader):
    dataset = loader.dataset
    yield from (random.getstate(), str(numpy.random.get_state()), torch.get_rng_state().tolist())
    yield from (dataset.own.getstate(), str(dataset.numpys.bit_generator.state))
    yield loader.generator.get_state().tolist()


def test_a_slow_loader_gets_workers_and_stays_as_it_was():
    loader = DataLoader(Slow(), batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(5))
    before = list(states(loader)), dict(vars(loader))
    seen = []
    found = tune.dataloader(loader, steps=4, step=lambda batch: seen.append(batch.shape), workers=[0, 2], seconds=60)
    assert (list(states(loader)), dict(vars(loader))) == before
    assert found.recommended.num_workers == 2 and found.workers_help
    assert found.arguments["num_workers"] == 2 and found.line.startswith("DataLoader(..., num_workers=2")
    low, high = found.gain
    assert 0.05 < low < high <= 1
    assert set(seen) == {torch.Size([4, 8])}
    now = found.rows[0]
    assert now.name == "num_workers=0 (now)" and now.step_ns > 12e6 and now.loading_ns > 12e6 and now.memory_bytes > 2**20
    assert "Write this\n  DataLoader(..., num_workers=2" in found.text and "← recommended" in found.text
    assert found.svg().startswith("<svg") and "2 workers" in found.svg() and found.svg() in found._repr_html_()
    assert ("drop_last", "it changes which data is used, so it is tried only if asked") in found.not_tried


def test_the_gain_is_found_again_by_a_plain_loop():
    data = Slow()
    found = tune.dataloader(DataLoader(data, batch_size=4), steps=8, step=lambda batch: time.sleep(0.002), workers=[0, 2], seconds=60)

    def seconds(loader):
        begun = time.perf_counter()
        for _ in loader:
            time.sleep(0.002)
        return time.perf_counter() - begun

    before, after = DataLoader(data, batch_size=4), DataLoader(data, batch_size=4, **found.arguments)
    seconds(after)
    shares = sorted(1 - seconds(after) / seconds(before) for _ in range(5))
    low, high = found.gain
    assert low - 0.1 <= shares[2] <= high + 0.1  # a machine that others use moves both


def test_data_in_memory_needs_no_workers():
    found = tune.dataloader(DataLoader(TensorDataset(torch.randn(2048, 8)), batch_size=16), workers=[0, 1], seconds=60)
    assert found.recommended == found.current and found.workers_help is False and found.line == "" and found.gain == (0, 0)
    assert "workers do not help" in found.text and "only loading is measured" in found.text


class Once(IterableDataset):
    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration


class Stored(IterableDataset):
    def __init__(self):
        self.items = iter(range(10))

    def __iter__(self):
        return self.items


class Plain(IterableDataset):
    def __iter__(self):
        return iter(range(10))


class Sharing(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        return iter(range(0 if info is None else info.id, 4000, 1 if info is None else info.num_workers))


class Drifting(Sampler):
    def __init__(self):
        self.passes = 0

    def __iter__(self):
        self.passes += 1
        return iter([self.passes, self.passes + 1])


class Own(DataLoader):
    def __iter__(self):
        return super().__iter__()


SMALL = TensorDataset(torch.arange(40.0))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: iter(DataLoader(SMALL)), "gives its batches only once"),
        (lambda: (one for one in DataLoader(SMALL)), "generator"),
        (lambda: [1, 2], "this is a list"),
        (lambda: Own(SMALL), "Own has an __iter__ of its own"),
        (lambda: DataLoader(Once()), "Once is its own iterator"),
        (lambda: DataLoader(Stored()), "returns the same iterator each time"),
        (lambda: DataLoader(Plain()), "each worker would read all of it"),
        (lambda: DataLoader(SMALL, sampler=iter([1, 2])), "its sampler is an iterator"),
        (lambda: DataLoader(SMALL, sampler=Drifting()), "Drifting gives other indices on its second pass"),
        (lambda: DataLoader(SMALL, sampler=[]), "it gives no batch"),
    ],
)
def test_what_cannot_be_iterated_again_is_refused(make, why):
    with pytest.raises(UsageError, match="the loader is not measured") as caught:
        tune.dataloader(make())
    assert why in str(caught.value)


def test_a_refused_sampler_is_not_used_up():
    sampler = Drifting()
    assert "second pass" in _refusals.why_not(torch, DataLoader(SMALL, sampler=sampler))
    assert sampler.passes == 0


def test_a_dataset_that_shares_its_work_is_measured():
    found = tune.dataloader(DataLoader(Sharing(), batch_size=4), steps=2, workers=[0, 1], seconds=1)
    assert {row.settings.num_workers for row in found.rows} == {0, 1}


def test_questions_that_make_no_sense():
    with pytest.raises(UsageError, match="steps=0"):
        tune.dataloader(DataLoader(SMALL), steps=0)
    with pytest.raises(UsageError, match="also='speed'"):
        tune.dataloader(DataLoader(SMALL), also=["speed"])


def test_more_workers_than_cores_are_not_tried():
    found = tune.dataloader(DataLoader(SMALL, batch_size=8), steps=2, workers=[0, 4096], seconds=20)
    reasons = dict(found.not_tried)
    assert "cores" in reasons["num_workers=4096"] and len(found.rows) == 1


def test_workers_that_would_not_fit_into_memory_are_not_tried(monkeypatch):
    monkeypatch.setattr(_memory, "free_memory", lambda: 2**20)
    found = tune.dataloader(DataLoader(SMALL, batch_size=8), steps=2, workers=[0, 1], seconds=20)
    assert "1 more workers and 2 more batches would need about 64 MiB, and 1 MiB are free" in dict(found.not_tried)["num_workers=1"]
    monkeypatch.setattr(_memory, "free_memory", lambda: 0)
    monkeypatch.setattr(_memory, "free_shared", lambda: 10)
    settings = tune.Settings(num_workers=2)
    assert "in /dev/shm" in _memory.why_too_large(settings, tune.Settings(), 1, 100)


class Failing(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        if torch.utils.data.get_worker_info() is not None:
            raise RuntimeError("planned")
        return torch.zeros(1)


def test_a_setting_that_fails_is_reported():
    found = tune.dataloader(DataLoader(Failing(), batch_size=8), steps=2, workers=[0, 1], seconds=20)
    assert found.recommended == found.current and "it failed: RuntimeError" in dict(found.not_tried)["num_workers=1"]


def test_an_error_of_the_program_is_its_own():
    def step(batch):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        tune.dataloader(DataLoader(SMALL, batch_size=8), step=step)


def test_drop_last_is_tried_if_asked():
    found = tune.dataloader(DataLoader(TensorDataset(torch.zeros(50, 4)), batch_size=16), steps=2, workers=[0], also=["drop_last"], seconds=20)
    assert any(row.settings.drop_last for row in found.rows)
    found = tune.dataloader(DataLoader(TensorDataset(torch.zeros(48, 4)), batch_size=16), steps=2, workers=[0], also=["drop_last"], seconds=20)
    assert "last batch" in dict(found.not_tried)["drop_last"]
