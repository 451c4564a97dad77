"""Whether the workers of a setting and their batches would fit into memory."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from stepscope.tune._settings import Settings

WORKER = 64 * 2**20
"""Bytes of a worker, before one was measured."""
KEPT_FREE = 0.05
"""Share of the free memory that is left alone."""
GROUPS = Path("/sys/fs/cgroup")
SHARED = "/dev/shm"


def free_memory() -> int:
    """Bytes that this machine, or this container, still has. 0 if unknown."""
    found = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
    for limit, used in (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")):
        with contextlib.suppress(OSError, ValueError):
            found.append(max(int((GROUPS / limit).read_text()) - int((GROUPS / used).read_text()), 0))
    return min(found, default=0)


def free_shared() -> int:
    """Bytes for batches on their way from workers. 0 if unknown."""
    with contextlib.suppress(OSError):
        told = os.statvfs(SHARED)
        return told.f_bavail * told.f_frsize
    return 0


def batch_bytes(batch: Any, depth: int = 4) -> int:
    """Bytes of a batch's tensors and arrays."""
    size = getattr(batch, "nbytes", None)
    if isinstance(size, int):
        return size
    if hasattr(batch, "element_size") and hasattr(batch, "nelement"):  # tensors before PyTorch 2.1
        return int(batch.element_size() * batch.nelement())
    if depth == 0:
        return 0
    parts = batch.values() if isinstance(batch, dict) else batch if isinstance(batch, (list, tuple)) else ()
    return sum(batch_bytes(part, depth - 1) for part in parts)


def why_too_large(settings: Settings, present: Settings, worker: int, batch: int) -> str:
    """Why more workers and batches than now would not fit; "" if they would.

    ``worker`` and ``batch`` are bytes of one, as measured.
    """
    more = max(settings.num_workers - present.num_workers, 0)
    batches = max(settings.in_flight - present.in_flight, 0)
    size = more * (worker or WORKER) + batches * batch
    free = free_memory()
    if free and size > free * (1 - KEPT_FREE):
        return f"{more} more workers and {batches} more batches would need about {mib(size)}, and {mib(free)} are free"
    shared = free_shared()
    if shared and batches * batch > shared * (1 - KEPT_FREE):
        return f"{batches} more batches in advance need {mib(batches * batch)} in {SHARED}, which has {mib(shared)} free"
    return ""


def mib(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"
