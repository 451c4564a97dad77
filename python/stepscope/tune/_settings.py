"""The settings of a DataLoader that are tried, and how they are written in code."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

PREFETCH = 2
"""PyTorch's own prefetch_factor."""


@dataclass(frozen=True)
class Settings:
    num_workers: int = 0
    prefetch_factor: int = PREFETCH
    """Batches that each worker prepares in advance."""
    persistent_workers: bool = False
    pin_memory: bool = False
    non_blocking: bool = False
    """Whether copies of pinned batches to the device are told not to wait."""
    drop_last: bool = False
    multiprocessing_context: str = ""
    """How workers start; "" is Python's own way."""
    threads: int = 1
    """Of PyTorch, in each worker."""

    def changed(self, **values: Any) -> Settings:
        """With other values. Without workers, what only workers use has its default."""
        made = dataclasses.replace(self, **values)
        if made.num_workers == 0:
            made = dataclasses.replace(made, prefetch_factor=PREFETCH, persistent_workers=False, multiprocessing_context="", threads=1)
        return made

    @property
    def in_flight(self) -> int:
        """Batches that workers prepare in advance."""
        return self.num_workers * self.prefetch_factor

    def arguments(self) -> dict[str, Any]:
        """Of DataLoader(). None: leave the argument away."""
        has_workers = self.num_workers > 0
        return {
            "num_workers": self.num_workers,
            "prefetch_factor": self.prefetch_factor if has_workers else None,
            "persistent_workers": self.persistent_workers if has_workers else None,
            "multiprocessing_context": self.multiprocessing_context or None,
            "pin_memory": self.pin_memory,
            "drop_last": self.drop_last,
        }

    def told(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def settings_of(loader: Any) -> Settings:
    """Those that a loader has now."""
    context = loader.multiprocessing_context
    return Settings(
        pin_memory=bool(loader.pin_memory),
        drop_last=bool(loader.drop_last),
    ).changed(
        num_workers=int(loader.num_workers),
        prefetch_factor=int(loader.prefetch_factor or PREFETCH),
        persistent_workers=bool(loader.persistent_workers),
        multiprocessing_context="" if context is None else str(context.get_start_method()),
    )


def differences(settings: Settings, base: Settings) -> dict[str, Any]:
    """What ``settings`` has other than ``base``."""
    return {name: value for name, value in settings.told().items() if value != getattr(base, name)}


def named(settings: Settings, current: Settings) -> str:
    """As a row's name: the workers, and what else differs from the settings now."""
    others = {name: value for name, value in differences(settings, current).items() if name != "num_workers"}
    if settings.num_workers == 0:  # what workers alone use goes with them
        others = {name: value for name, value in others.items() if name in ("pin_memory", "non_blocking", "drop_last")}
    return ", ".join([f"num_workers={settings.num_workers}", *(f"{name}={value!r}" for name, value in others.items())])


def line_of(settings: Settings, current: Settings, place: str = "") -> str:
    """The code to write, e.g. ``DataLoader(..., num_workers=4)``; "" if nothing changes."""
    values = differences(settings, current)
    if settings.num_workers == 0:
        for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "threads"):
            values.pop(name, None)
    words = [f"{name}={value!r}" for name, value in values.items() if name not in ("threads", "non_blocking")]
    if "threads" in values:
        words.append(f"worker_init_fn=lambda worker: torch.set_num_threads({values['threads']})")
    lines = [f"DataLoader(..., {', '.join(words)})"] if words else []
    if values.get("non_blocking"):
        lines.append("batch.to(device, non_blocking=True)")
    return ", and ".join(lines) + (f"   # {place}" if place and lines else "")
