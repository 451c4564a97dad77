"""What one training step's gradients say: those that no optimizer reads, and embeddings of which few rows have one."""

from __future__ import annotations

import contextlib
import gc
import json
from collections.abc import Iterable
from typing import Any

from stepscope._errors import ProfilerError
from stepscope.profiler._recording import Recording

LARGE = 50_000_000
"""Elements of a gradient that is looked at as a whole; of a larger one, evenly spread rows."""
FEWEST_ROWS = 1000
NAMED = 3
"""Parameters without a reader that are named."""


def tell_training(torch: Any, optimizers: Iterable[Any], recording: Recording) -> None:
    """Adds ``training`` to the recording, as far as it has room. Call it after an optimizer's step, when gradients are there."""
    with contextlib.suppress(ProfilerError):
        recording.metadata("training", json.dumps(training_facts(torch, optimizers)))


def training_facts(torch: Any, optimizers: Iterable[Any]) -> dict[str, Any]:
    objects = gc.get_objects()
    modules = live_modules(torch, objects)
    names = names_of(modules)
    read = {id(p) for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]}
    trained = {id(p): p for module in modules for p in module._parameters.values() if p is not None and p.grad is not None}
    unread = [p for p in trained.values() if id(p) not in read]
    inputs = [t for t in live_leaves(torch, objects) if id(t) not in read]
    largest = max(inputs, key=lambda t: t.numel(), default=None)
    return {
        "anomaly": torch.is_anomaly_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "gradients": sum(p.numel() for p in trained.values()),
        "unread": {
            "parameters": len(unread),
            "elements": sum(p.numel() for p in unread),
            "names": sorted(names[id(p)] for p in unread if id(p) in names)[:NAMED],
        },
        "inputs": {
            "tensors": len(inputs),
            "elements": sum(t.numel() for t in inputs),
            "shape": "" if largest is None else str(list(largest.shape)),
        },
        "embeddings": [
            embedding_facts(torch, module, names.get(id(module.weight), "weight"))
            for module in modules
            if isinstance(module, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and has_dense_gradient(torch, module.weight)
        ],
    }


def live_modules(torch: Any, objects: list[Any]) -> list[Any]:
    """The modules of the program, as the garbage collector knows them."""
    kind = torch.nn.Module
    return [found for found in objects if issubclass(type(found), kind) and "_parameters" in found.__dict__]


def live_leaves(torch: Any, objects: list[Any]) -> list[Any]:
    """Plain tensors with a gradient, as the garbage collector knows them: no parameters, and no subclass whose attributes may run code."""
    tensors = (found for found in objects if type(found) is torch.Tensor)
    return [tensor for tensor in tensors if tensor.requires_grad and tensor.is_leaf and tensor.grad is not None]


def names_of(modules: list[Any]) -> dict[int, str]:
    """Names of parameters by id, as named_parameters() of the outermost module gives them."""
    inner = {id(child) for module in modules for child in module._modules.values()}
    names: dict[int, str] = {}
    for root in modules:
        if id(root) not in inner:
            for name, parameter in root.named_parameters():
                names.setdefault(id(parameter), name)
    return names


def has_dense_gradient(torch: Any, weight: Any) -> bool:
    return weight.shape[0] >= FEWEST_ROWS and weight.grad is not None and weight.grad.layout == torch.strided


def embedding_facts(torch: Any, module: Any, name: str) -> dict[str, Any]:
    weight = module.weight
    stride = weight.numel() // LARGE + 1
    with torch.no_grad():
        rows = weight.grad[::stride]
        touched = int((rows != 0).any(dim=1).sum())
    return {"name": name, "rows": weight.shape[0], "touched": touched * stride, "elements": weight.numel(), "bytes": weight.numel() * weight.element_size()}
