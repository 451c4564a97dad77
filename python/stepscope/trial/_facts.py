"""What a program makes and switches on: changes decide by it whether they apply. Noted in the program itself, until it is held."""

from __future__ import annotations

import inspect
import os
import sys
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Made:
    """A loader, optimizer or DistributedDataParallel of the program."""

    place: str
    """As train.py:41."""
    kind: str
    """Its class."""
    given: dict[str, Any]
    """Arguments that changes ask for."""


@dataclass
class Program:
    by: str = ""
    """What ends a step: optimizer or forward."""
    module: int = -1
    has_cuda: bool = False
    cores: int = 1
    threads: int = 1
    world: int = 1
    torch: str = ""
    loaders: list[Made] = field(default_factory=list)
    optimizers: list[Made] = field(default_factory=list)
    ddp: list[Made] = field(default_factory=list)
    zeroed: str = ""
    """Where gradients are filled with zeros."""
    has_conv2d: bool = False
    is_compiled: bool = False
    is_training: bool = True
    model: str = ""
    """The class of the outermost module."""
    builds_graph: bool = False
    """Whether the outermost module runs with gradients on."""
    anomaly: bool = False
    benchmark: bool = False
    tf32: bool = False
    autocast: bool = False
    double: bool = False
    has_compiler: bool = False

    @staticmethod
    def from_told(told: dict[str, Any]) -> Program:
        known = {key: value for key, value in told.items() if key in Program.__dataclass_fields__}
        for key in ("loaders", "optimizers", "ddp"):
            known[key] = [Made(**one) for one in told.get(key, ())]
        return Program(**known)


def place() -> str:
    """The innermost line of the program itself on this thread's stack."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not any(part in name for part in ("/torch/", "/stepscope/", "/site-packages/", "/dist-packages/", "<frozen", "/contextlib.py")):
            return f"{os.path.basename(name)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


class Facts:
    """Wraps what makes loaders, optimizers and DistributedDataParallel. The wrappers only note."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.loaders: list[Made] = []
        self.optimizers: list[Made] = []
        self.ddp: list[Made] = []
        self.zeroed = ""
        self.module: dict[str, Any] = {}
        self.watch_loaders()
        self.watch_optimizers()
        self.watch_zero_grad()
        if torch.distributed.is_available():
            self.watch_ddp()

    def watch_loaders(self) -> None:
        data = self.torch.utils.data
        noted = self.loaders
        make = data.DataLoader.__init__
        form = inspect.signature(make)

        def made(loader: Any, *args: Any, **named: Any) -> None:
            make(loader, *args, **named)
            given = {name: getattr(loader, name, None) for name in ("num_workers", "pin_memory", "persistent_workers", "prefetch_factor")}
            given["is_iterable"] = isinstance(loader.dataset, data.IterableDataset)
            given["has_cuda"] = holds_cuda(loader.dataset)
            noted.append(Made(place(), type(loader).__name__, given))

        made.__signature__ = form  # type: ignore[attr-defined]
        data.DataLoader.__init__ = made

    def watch_optimizers(self) -> None:
        optimizer, noted = self.torch.optim.Optimizer, self.optimizers
        make = optimizer.__init__

        def made(this: Any, params: Any, *args: Any, **named: Any) -> None:
            make(this, params, *args, **named)
            groups = this.param_groups
            tensors = [one for group in groups for one in group["params"]]
            given: dict[str, Any] = {name: bool(groups[0].get(name)) for name in ("fused", "foreach", "capturable", "differentiable")} if groups else {}
            given["parameters"] = len(tensors)
            given["devices"] = sorted({one.device.type for one in tensors})
            given["is_float"] = all(one.is_floating_point() for one in tensors)
            noted.append(Made(place(), type(this).__name__, given))

        optimizer.__init__ = made

    def watch_zero_grad(self) -> None:
        for kind in (self.torch.optim.Optimizer, self.torch.nn.Module):
            self.watch_one_zero_grad(kind)

    def watch_one_zero_grad(self, kind: Any) -> None:
        zero, facts = kind.zero_grad, self

        def zeroed(this: Any, set_to_none: bool = True) -> None:
            if not set_to_none and not facts.zeroed:
                facts.zeroed = place()
            zero(this, set_to_none)

        kind.zero_grad = zeroed

    def watch_ddp(self) -> None:
        parallel, noted = self.torch.nn.parallel.DistributedDataParallel, self.ddp
        make = parallel.__init__
        form = inspect.signature(make)

        def made(this: Any, *args: Any, **named: Any) -> None:
            make(this, *args, **named)
            bound = form.bind(this, *args, **named)
            bound.apply_defaults()
            given = {name: bound.arguments.get(name) for name in ("bucket_cap_mb", "static_graph")}
            for name in ("gradient_as_bucket_view", "find_unused_parameters", "broadcast_buffers"):
                given[name] = bool(getattr(this, name, False))  # what it does, by default too
            given["buffers"] = sum(1 for _ in this.module.buffers())
            noted.append(Made(place(), type(this).__name__, given))

        parallel.__init__ = made

    def look_at(self, module: Any) -> None:
        """Called before the first call of an outermost module."""
        torch = self.torch
        if self.module.get("is_training"):
            return
        parts = list(module.modules())
        self.module = {
            "model": type(module).__name__,
            "is_training": bool(module.training),
            "builds_graph": torch.is_grad_enabled() and not torch.is_inference_mode_enabled(),
            "has_conv2d": any(isinstance(one, torch.nn.Conv2d) for one in parts),
            "is_compiled": any(type(one).__name__ == "OptimizedModule" or getattr(one, "_compiled_call_impl", None) for one in parts),
            "autocast": is_autocast(torch),
            "double": any(one.dtype == torch.float64 for one in module.parameters()),
        }

    def told(self, copy: Any) -> dict[str, Any]:
        import shutil

        torch = self.torch
        distributed = torch.distributed
        is_group = distributed.is_available() and distributed.is_initialized()
        return {
            "by": copy.by,
            "module": copy.module,
            "has_cuda": torch.cuda.is_initialized(),
            "cores": len(os.sched_getaffinity(0)),
            "threads": torch.get_num_threads(),
            "world": distributed.get_world_size() if is_group else 1,
            "torch": torch.__version__,
            "loaders": [vars(one) for one in self.loaders[:20]],
            "optimizers": [vars(one) for one in self.optimizers[:20]],
            "ddp": [vars(one) for one in self.ddp[:20]],
            "zeroed": self.zeroed,
            "anomaly": torch.is_anomaly_enabled(),
            "benchmark": bool(torch.backends.cudnn.benchmark),
            "tf32": torch.get_float32_matmul_precision() != "highest",
            "has_compiler": any(shutil.which(name) for name in (os.environ.get("CXX") or "g++", "clang++")),
            **self.module,
        }


def is_autocast(torch: Any) -> bool:
    try:
        return bool(torch.is_autocast_enabled("cuda")) or bool(torch.is_autocast_enabled("cpu"))
    except TypeError:  # before PyTorch 2.4
        return bool(torch.is_autocast_enabled()) or bool(torch.is_autocast_cpu_enabled())


def holds_cuda(dataset: Any) -> bool:
    values = list(vars(dataset).values()) if hasattr(dataset, "__dict__") else []
    tensors = [one for value in values for one in (value if isinstance(value, (list, tuple)) else (value,))[:100]]
    return any(getattr(one, "is_cuda", False) is True for one in tensors)
