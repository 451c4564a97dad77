"""Metadata at the top of a trace."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from stepscope._errors import ProfilerError
from stepscope.profiler._config import ArgumentError


def checked_json(key: str, value: str) -> str:
    """``value`` on one line; ProfilerError if it is not JSON."""
    check_text(key, value)
    try:
        json.loads(value, parse_constant=refuse)
    except ValueError as error:
        raise ProfilerError(f"the metadata {key!r} is not JSON ({error}); json.dumps() converts a value to JSON") from None
    return value.replace("\n", " ")


def check_text(key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ArgumentError(f"the metadata {key!r} must be a text, not {value!r}")


def refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")


def machine_info() -> str:
    """``machineInfo`` as JSON: cores that this process may use and, with PyTorch, the accelerators and threads of an operator."""
    info = {"cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()}
    torch = sys.modules.get("torch")
    if torch is not None:
        info["threads"] = torch.get_num_threads()
        info["accelerators"] = accelerators(torch)
    return json.dumps(info)


def accelerators(torch: Any) -> int:
    if hasattr(torch, "accelerator"):  # from PyTorch 2.6 on
        return int(torch.accelerator.device_count())
    kinds = (getattr(torch, kind, None) for kind in ("cuda", "xpu"))
    return sum(int(kind.device_count()) for kind in kinds if kind is not None and kind.is_available())


def distributed_info() -> str | None:
    """``distributedInfo`` as JSON; None without a process group."""
    torch = sys.modules.get("torch")
    dist = getattr(torch, "distributed", None)
    if torch is None or dist is None or not dist.is_available() or not dist.is_initialized():
        return None
    backend = dist.get_backend()
    info: dict[str, Any] = {"backend": backend, "rank": dist.get_rank(), "world_size": dist.get_world_size()}
    c10d = dist.distributed_c10d
    if hasattr(dist, "get_pg_count"):
        info["pg_count"] = dist.get_pg_count()
    elif hasattr(c10d, "get_pg_count"):
        info["pg_count"] = c10d.get_pg_count()
    elif hasattr(c10d, "_pg_map"):  # before PyTorch 2.0
        info["pg_count"] = len(c10d._pg_map)
    if hasattr(c10d, "_get_all_pg_configs"):
        info["pg_config"] = c10d._get_all_pg_configs()
    if backend == "nccl":
        info["nccl_version"] = ".".join(map(str, torch.cuda.nccl.version()))
    return json.dumps(info, default=str)
