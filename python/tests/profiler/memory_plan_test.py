"""What memory_plan and checkpointing say of a recorded step, against runs at the larger batch, or with modules checkpointed."""

import contextlib
import functools
import gc
import json

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from planned_models import MODELS  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import stepscope  # noqa: E402
from stepscope.profiler import profile  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """The sizes are the same, and other tests may run beside these."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def recorded(path, name, batch, *, whole):
    """Records steps: from before the model is made, or the third step alone."""
    make, optimizer_of, step = MODELS[name]
    gc.collect()
    options = {"profile_memory": True, "record_shapes": True}
    with profile(**options) if whole else contextlib.nullcontext() as prof:
        model = make()
        optimizer = optimizer_of(model.parameters())
        step(model, optimizer, batch)
        step(model, optimizer, batch)
    if not whole:
        with profile(**options) as prof:
            step(model, optimizer, batch)
    prof.export_chrome_trace(path)
    return path


def peak_of(path):
    """Highest sum of all bytes allocated and freed, counted here."""
    changes = [e for e in json.loads(path.read_text())["traceEvents"] if e["name"] == "[memory]"]
    changes.sort(key=lambda e: e["ts"])
    level = highest = 0
    for change in changes:
        level += int(change["args"]["Bytes"])
        highest = max(highest, level)
    return highest


@pytest.mark.parametrize("name", MODELS)
def test_larger_batches_take_what_was_planned(name, tmp_path):
    rows = list(stepscope.open(recorded(tmp_path / "step.json", name, 3, whole=False)).show.memory_plan().tables[0])
    assert [row["batch"] for row in rows] == [3, 6, 12, 24]
    for row in rows:
        peak = peak_of(recorded(tmp_path / f"{row['batch']}.json", name, row["batch"], whole=True))
        assert row["peak_low"] <= peak <= row["peak_high"], (row, peak)
        assert row["peak_high"] - row["peak_low"] <= 0.02 * peak, (row, peak)


MODULES = [("language", "Block"), ("vision", "TransformerEncoderLayer"), ("resnet", "Residual")]


def checkpointing(model, module):
    for part in model.modules():
        if type(part).__name__ == module:
            part.forward = functools.partial(checkpoint, part.forward, use_reentrant=False)
    return model


@pytest.mark.parametrize(("name", "module"), MODULES)
def test_checkpointing_fits_as_planned(name, module, tmp_path):
    """A step of batches of 3 without checkpointing, against runs with it."""
    make, optimizer_of, step = MODELS[name]

    def record(batch, *, checkpointed):
        model = make()
        optimizer = optimizer_of(model.parameters())
        step(model, optimizer, batch)
        gc.collect()
        options = {"profile_memory": True, "record_shapes": True, "with_modules": True}
        with profile(**options) if checkpointed else contextlib.nullcontext() as prof:
            if checkpointed:
                model = checkpointing(make(), module)
                optimizer = optimizer_of(model.parameters())
                step(model, optimizer, batch)
            step(model, optimizer, batch)
        if not checkpointed:
            with profile(**options) as prof:
                step(model, optimizer, batch)
        prof.export_chrome_trace(tmp_path / f"{batch}.json")
        return tmp_path / f"{batch}.json"

    plan = stepscope.open(record(3, checkpointed=False)).show.memory_plan(checkpoint=module)
    for row in plan.tables[0]:
        peak = peak_of(record(row["batch"], checkpointed=True))
        assert row["peak_low"] <= peak <= row["peak_high"], (row, peak)
        assert row["peak_high"] - row["peak_low"] <= 0.16 * peak, (row, peak)


OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.01),
    "SGDMomentum": lambda parameters: torch.optim.SGD(parameters, lr=0.01, momentum=0.9),
    "AdamW": torch.optim.AdamW,
}


@pytest.mark.parametrize("name", MODELS)
def test_other_optimizers_take_what_was_planned(name, tmp_path, monkeypatch):
    trace = stepscope.open(recorded(tmp_path / "step.json", name, 3, whole=False))
    for optimizer, made in OPTIMIZERS.items():
        (row,) = list(trace.show.memory_plan(optimizer=optimizer, to_batch=12).tables[0])
        monkeypatch.setitem(MODELS, name, (MODELS[name][0], made, MODELS[name][2]))
        peak = peak_of(recorded(tmp_path / "other.json", name, 12, whole=True))
        assert row["peak_low"] <= peak <= row["peak_high"], (optimizer, row, peak)
        assert row["peak_high"] - row["peak_low"] <= 0.02 * peak, (optimizer, row, peak)


@pytest.mark.parametrize("name", MODELS)
def test_half_precision_takes_what_was_planned(name, tmp_path):
    (row,) = list(stepscope.open(recorded(tmp_path / "step.json", name, 3, whole=True)).show.memory_plan(precision="bf16", to_batch=12).tables[0])
    torch.set_default_dtype(torch.bfloat16)
    try:
        peak = peak_of(recorded(tmp_path / "half.json", name, 12, whole=True))
    finally:
        torch.set_default_dtype(torch.float32)
    assert row["peak_low"] <= peak <= row["peak_high"], (row, peak)


@pytest.mark.parametrize(("name", "module"), MODULES)
def test_checkpointing_saves_what_was_said(name, module, tmp_path):
    def record(file, checkpointed):
        make, optimizer_of, step = MODELS[name]
        model = checkpointing(make(), module) if checkpointed else make()
        optimizer = optimizer_of(model.parameters())
        step(model, optimizer, 12)
        gc.collect()
        with profile(profile_memory=True, record_shapes=True, with_modules=True) as prof:
            step(model, optimizer, 12)
        prof.export_chrome_trace(tmp_path / file)
        return tmp_path / file

    plain = record("plain.json", False)
    (row,) = [row for row in stepscope.open(plain).show.checkpointing().tables[0] if row["module"] == module]
    assert row["peak"] == peak_of(plain)
    peak = peak_of(record("checkpointed.json", True))
    assert 0.93 * row["peak_low"] <= peak <= 1.08 * row["peak_high"], (row, peak)
    assert row["peak_high"] < 0.9 * row["peak"]
