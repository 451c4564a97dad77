"""memory_plan says from one step of a small batch what larger batches take; they are then run."""

import contextlib
import gc
import json

import pytest

pytest.importorskip("torch", reason="needs PyTorch")

from planned_models import MODELS  # noqa: E402

import stepscope  # noqa: E402
from stepscope.profiler import profile  # noqa: E402


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
