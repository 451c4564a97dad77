"""What one training step's gradients say: those that no optimizer reads, and embeddings of which few rows have one."""

from __future__ import annotations

import contextlib
import gc
import json
import weakref
from typing import Any

from stepscope._errors import ProfilerError
from stepscope.profiler._recording import Recording

LARGE = 50_000_000
"""Elements of a gradient that is looked at as a whole; of a larger one, evenly spread rows."""
FEWEST_ROWS = 1000
NAMED = 3
"""Parameters without a reader that are named."""


class Training:
    """The gradients after the step of one optimizer, until its next step: by then every optimizer has read what it reads.

    Make it after an optimizer's step, when gradients are there. It keeps no gradient alive: one that is gone when its optimizer steps was
    thrown away.
    """

    def __init__(self, torch: Any, optimizer: Any) -> None:
        objects = modules_and_tensors(torch, gc.get_objects())
        modules = live_modules(torch, objects)
        names = names_of(modules)
        trained = {id(p): p for module in modules for p in module._parameters.values() if p is not None and p.grad is not None}
        self.facts = {
            "anomaly": torch.is_anomaly_enabled(),
            "deterministic": torch.are_deterministic_algorithms_enabled(),
            "gradients": sum(p.numel() for p in trained.values()),
            "embeddings": [
                embedding_facts(torch, module, names.get(id(module.weight), "weight"))
                for module in modules
                if isinstance(module, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and has_dense_gradient(torch, module.weight)
            ],
        }
        self.parameters = {key: Unread(p, names.get(key, "")) for key, p in trained.items()}
        """By id: those that no optimizer has read so far."""
        self.inputs = {id(t): Unread(t, "") for t in live_leaves(torch, objects)}
        """The same of tensors that are no parameters."""
        self.groups = (0, 0)
        """Parameter groups of the optimizer that has most, and how many different settings they have."""
        self.after(optimizer)

    def after(self, optimizer: Any) -> None:
        """``optimizer`` has made a step: it has read its gradients."""
        self.groups = max(self.groups, (len(optimizer.param_groups), len({settings_of(group) for group in optimizer.param_groups})))
        for group in optimizer.param_groups:
            for tensor in group["params"]:
                for unread in (self.parameters, self.inputs):
                    if id(tensor) in unread and unread[id(tensor)].still_has(tensor.grad):
                        del unread[id(tensor)]

    def told(self, complete: bool = True) -> dict[str, Any]:
        """All facts. Not ``complete``: the optimizer has not made its next step, so nothing is known to be unread."""
        parameters, inputs = ([one for one in of.values() if complete and one.tensor() is not None] for of in (self.parameters, self.inputs))
        largest = max(inputs, key=lambda one: one.elements, default=None)
        return self.facts | {
            "groups": {"all": self.groups[0], "different": self.groups[1]},
            "unread": {
                "parameters": len(parameters),
                "elements": sum(one.elements for one in parameters),
                "names": sorted(one.name for one in parameters if one.name)[:NAMED],
            },
            "inputs": {
                "tensors": len(inputs),
                "elements": sum(one.elements for one in inputs),
                "shape": "" if largest is None else largest.shape,
            },
        }

    def tell(self, recording: Recording, complete: bool) -> None:
        """Adds ``training`` to the recording, as far as it has room."""
        with contextlib.suppress(ProfilerError):
            recording.metadata("training", json.dumps(self.told(complete)))


def settings_of(group: dict[str, Any]) -> tuple[Any, ...]:
    """Equal for parameter groups that could be one. A setting that is a tensor is only equal to itself: its value may be on a device."""
    return tuple((name, value if is_plain(value) else id(value)) for name, value in sorted(group.items()) if name != "params")


def is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str, type(None))) or (isinstance(value, tuple) and all(map(is_plain, value)))


class Unread:
    """A tensor whose gradient no optimizer has read yet."""

    def __init__(self, tensor: Any, name: str) -> None:
        self.tensor, self.gradient = weakref.ref(tensor), weakref.ref(tensor.grad)
        self.name, self.elements, self.shape = name, tensor.numel(), str(list(tensor.shape))

    def still_has(self, gradient: Any) -> bool:
        return gradient is not None and self.gradient() is gradient


def modules_and_tensors(torch: Any, objects: list[Any]) -> list[Any]:
    """Those of the objects, of which a program may have millions: each kind is looked at once."""
    kinds = {kind for kind in set(map(type, objects)) if kind is torch.Tensor or issubclass(kind, torch.nn.Module)}
    return [found for found in objects if type(found) in kinds]


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
