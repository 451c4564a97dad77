"""torch.profiler's memory timeline: memory by use over time, derived from allocations and their call sites."""

from __future__ import annotations

import gc
import gzip
import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core
from stepscope._errors import ProfilerError
from stepscope.profiler._memory_plot import memory_page

USES = ("parameter", "optimizer state", "input", "temporary", "activation", "gradient", "autograd detail", "unknown")
"""Indexed by torch.profiler's numbers."""
PARAMETER, OPTIMIZER_STATE, GRADIENT, UNKNOWN = 0, 1, 5, 7
PREEXISTING, CREATE, DESTROY = 1, 2, 4
DEVICE_TYPES = {0: "cpu", 1: "cuda"}


class MemoryEvent(NamedTuple):
    """``ns`` is since 1970, or -1 for memory from before the recording; ``size`` is in bytes, negative when freed."""

    ns: int
    action: int
    size: int
    use: int


class Held(NamedTuple):
    """A tensor's memory now: bytes and use."""

    size: int
    use: int


class MemoryTimeline:
    """Allocations and frees of one device, by time."""

    def __init__(self, recording: Path, device: str | None = None) -> None:
        blocks = dict(_core.memory_blocks(os.fsencode(recording)))
        devices = [device_name(*block) for block in zip(blocks["device_type"], blocks["device_index"])]
        known = sorted(set(devices))
        if not known:
            raise ProfilerError("no memory was recorded; record with profile_memory=True")
        self.device = chosen_device(device, known)
        self.events: list[MemoryEvent] = []
        held = held_memory(self.device)
        for name, begin, end, address, size, use in zip(
            devices, blocks["begin_ns"], blocks["end_ns"], blocks["address"], blocks["bytes"], blocks["use"]
        ):
            if name != self.device:
                continue
            if end < 0 and address in held:
                use = held.pop(address).use
            self.events.append(MemoryEvent(begin, PREEXISTING if begin < 0 else CREATE, size, use))
            if end >= 0:
                self.events.append(MemoryEvent(end, DESTROY, -size, use))
        self.events += [MemoryEvent(-1, PREEXISTING, size, use) for size, use in held.values()]
        self.events.sort(key=lambda event: event.ns)

    def sums(self) -> tuple[list[int], list[list[int]]]:
        """Per µs with a change: its time in µs, and a row of 0 followed by the bytes of each use."""
        times: list[int] = []
        sizes: list[list[int]] = []
        for event in self.events:
            us = event.ns // 1000 if event.ns >= 0 else -1
            if not times or us != times[-1]:
                times.append(us)
                sizes.append(sizes[-1].copy() if sizes else [0] * (1 + len(USES)))
            sizes[-1][1 + event.use] += event.size
        first = next((time for time in times if time >= 0), 0)
        return [first if time < 0 else time for time in times], sizes

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes a page (.html), changes (raw.json.gz) or sums, by the name's ending."""
        name = os.fspath(path)
        if name.endswith(".html"):
            write_whole(path, memory_page(*self.sums(), self.device).encode())
        elif name.endswith("raw.json.gz"):
            write_json(path, self.events)
        else:
            write_json(path, self.sums())


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    text = json.dumps(value).encode()
    write_whole(path, gzip.compress(text) if os.fspath(path).endswith(".gz") else text)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes the whole file, or raises ProfilerError and leaves nothing."""
    part = Path(f"{os.fspath(path)}.part-{os.getpid()}")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ProfilerError(f"{os.fspath(path)} could not be written: {error.strerror}; choose another place") from None


def device_name(kind: int, index: int) -> str:
    name = DEVICE_TYPES.get(kind, f"device{kind}")
    return name if name == "cpu" else f"{name}:{max(index, 0)}"


def chosen_device(device: str | None, known: list[str]) -> str:
    if device is None:
        return next((name for name in known if name != "cpu"), "cpu")
    wanted = device if device == "cpu" or ":" in device else f"{device}:0"
    if wanted not in known:
        raise ProfilerError(f"no memory of {device} was recorded; memory was recorded of {', '.join(known)}")
    return wanted


def held_memory(device: str) -> dict[int, Held]:
    """Memory of all live parameters, gradients and optimizer states, by address."""
    torch = sys.modules.get("torch")
    out: dict[int, Held] = {}
    unplaced = 0
    for tensor, use in tensors_of_models(torch) if torch is not None else ():
        try:
            if tensor.device.type + (f":{tensor.device.index or 0}" if tensor.device.type != "cpu" else "") != device:
                continue
            storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()
            if storage.nbytes() > 0:
                out.setdefault(storage.data_ptr(), Held(storage.nbytes(), use))
        except RuntimeError:  # a tensor without storage of its own: sparse, fake or wrapped
            unplaced += 1
    if unplaced > 0:
        warnings.warn(
            f"tensors of models and optimizers on {device} without their own storage: {unplaced}; their memory counts as unknown",
            stacklevel=2,
        )
    return out


def tensors_of_models(torch: Any) -> Iterator[tuple[Any, int]]:
    for thing in gc.get_objects():
        kind = type(thing)
        if issubclass(kind, torch.nn.Module):
            for parameter in thing.__dict__.get("_parameters", {}).values():
                if parameter is None:
                    continue
                yield parameter, PARAMETER
                if parameter.grad is not None:
                    yield parameter.grad, GRADIENT
        elif issubclass(kind, torch.optim.Optimizer):
            for state in list(thing.state.values()):
                for value in state.values() if isinstance(state, dict) else ():
                    if isinstance(value, torch.Tensor):
                        yield value, OPTIMIZER_STATE
