"""Helpers for the tests of data loaders: a slow dataset, and the workers and batches in a recording."""

import json
import os
import time
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

from torch.utils.data import Dataset  # noqa: E402

SEVERAL = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
SLEEP = 0.03


class Slow(Dataset):
    """Items are (index, process id, ns slept)."""

    def __init__(self, size, sleep=SLEEP):
        self.size, self.sleep = size, sleep

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        began = time.perf_counter_ns()
        time.sleep(self.sleep)
        return torch.tensor([index, os.getpid(), time.perf_counter_ns() - began])


def events_of(path):
    return json.loads(path.read_text())["traceEvents"]


def exported(prof, folder):
    prof.export_chrome_trace(folder / "exported.json")
    return events_of(folder / "exported.json")


def named(events, name):
    return sorted((e for e in events if e["ph"] == "X" and e["name"] == name), key=lambda e: e["ts"])


def around(events, end):
    """The innermost slice around one end of an arrow, on its thread."""
    found = [
        e
        for e in events
        if e["ph"] == "X"
        and e.get("cat") == "user_annotation"
        and (e["pid"], e["tid"]) == (end["pid"], end["tid"])
        and e["ts"] <= end["ts"] <= e["ts"] + e["dur"]
    ]
    return min(found, key=lambda e: e["dur"])


def linked(events):
    """Pairs of ranges: where a batch was made and where it was taken, in the order in which batches were taken."""
    ends = [e for e in events if e.get("cat") == "dataloader"]
    begun = {e["id"]: e for e in ends if e["ph"] == "s"}
    taken = {e["id"]: e for e in ends if e["ph"] == "f"}
    assert begun.keys() == taken.keys() and len(ends) == 2 * len(begun)
    pairs = [(around(events, begun[key]), around(events, taken[key])) for key in begun]
    assert all(made["name"] == "DataLoader.fetch" and took["name"] == SEVERAL for made, took in pairs)
    assert all(made["ts"] + made["dur"] <= took["ts"] + took["dur"] for made, took in pairs)
    assert len({id(made) for made, _ in pairs}) == len({id(took) for _, took in pairs}) == len(pairs)
    return sorted(pairs, key=lambda pair: pair[1]["ts"])


def agrees(events, batches, epochs=1):
    """Checks that each batch is linked to a fetch of the process that made it, in order."""
    pairs = linked(events)
    assert [made["pid"] for made, _ in pairs] == [int(batch[0][1]) for batch in batches]
    assert {took["pid"] for _, took in pairs} == {os.getpid()}
    for pid in {made["pid"] for made, _ in pairs}:
        fetches = [made for made, _ in pairs if made["pid"] == pid]
        order = [int(batch[0][0]) for batch in batches if int(batch[0][1]) == pid]
        assert fetches == sorted(fetches, key=lambda e: e["ts"]) and order == sorted(set(order)) * epochs
    return pairs


def export(path, folder):
    from stepscope import _core

    output = folder / f"{path.stem}.json"
    _core.export_recording(os.fsencode(path), os.fsencode(output), [])
    return output
