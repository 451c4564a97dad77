"""The tree ``ai``: names for what a training does, e.g. ``ai.compute.forward``. The category is the top node, the name the leaf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from stepscope import _collect
from stepscope._collect import annotations_are_off
from stepscope.io._ranges import loop, ranged

TREE: dict[str, tuple[str, ...]] = {
    "compute": ("forward", "backward", "step"),
    "data": ("preprocess", "item", "io.open", "io.read", "io.write", "io.close"),
    "dataloader": ("fetch",),
    "comm": ("send", "receive", "barrier", "bcast", "reduce", "all_reduce", "gather", "all_gather", "scatter", "reduce_scatter", "all_to_all"),
    "device": ("transfer",),
    "checkpoint": ("init", "capture", "restart", "io.open", "io.read", "io.write", "io.close"),
    "pipeline": ("epoch", "train", "evaluate", "test"),
    "other": ("log", "io.open", "io.read", "io.write", "io.close"),
}


class Node(_collect.Node):
    """A decorator, a block, and the parent of nodes below it.

        @ai.data.item
        def read(self, image_idx): ...

        with ai.compute.forward(step=3): ...
        for batch in ai.dataloader.fetch.iter(loader): ...
        ai.pipeline.epoch.start(); ...; ai.pipeline.epoch.stop()
    """

    _children: Mapping[str, Node] = {}

    def __init__(self, cat: str, name: str, enable: bool = True, fixed: dict[str, Any] | None = None) -> None:
        super().__init__(cat, name, enable=enable)
        if fixed:
            self.add_args(fixed)

    def _adopt(self, name: str, child: Node) -> Node:
        self._children = {**self._children, name: child}
        if not name.startswith("_") and not hasattr(type(self), name):
            self.__dict__[name] = child  # without it, each look-up would go through __getattr__
        return child

    def __getattr__(self, name: str) -> Node:
        try:
            return self._children[name]
        except KeyError:
            raise AttributeError(f"ai has no {self._leaf}.{name}; derive(name={name!r}) makes one") from None

    def _decorated(self, function: Callable[..., Any], *, enable: bool = True) -> Any:
        if not (enable and self.is_enabled):
            return function
        return ranged(self, self._leaf or function.__qualname__, self._text, function)

    def init(self, function: Callable[..., Any]) -> Any:
        """Decorates a constructor."""
        return ranged(self, f"{self._leaf}.init", self._text, function, is_method=True) if self.is_enabled else function

    def iter(self, iterable: Iterable[Any], name: str | None = None, iter_name: str = "step", include_yield: bool = True, enable: bool = True) -> Iterator[Any]:
        """The items; ``NAME.iter`` is the wait for each, ``NAME.yield`` the time that the body has it."""
        if not enable:
            return iter(iterable)
        return loop(self, iterable, name or self._leaf, iter_name, include_yield)

    def start(self, metadata: bool = False, **values: Any) -> Node:
        """Begins a range until stop(), in this thread or coroutine. ``metadata`` is accepted and not needed."""
        self.__enter__()
        if values:
            self.update(**values)
        return self

    def stop(self) -> Node:
        """Ends the range that start() began last. Without one, it does nothing."""
        self.__exit__(None, None, None)
        return self

    def derive(self, name: str, **values: Any) -> Node:
        """A node of the same category with a name of its own; later also ``node.NAME``."""
        return self._adopt(name, Node(self._cat, name, self.is_enabled, {**self._fixed, **values}))

    def enable(self) -> Node:
        """Switches this node and those below it on. Functions that were decorated meanwhile stay as they are."""
        return self._switch(True)

    def disable(self) -> Node:
        return self._switch(False)

    def _switch(self, on: bool) -> Node:
        self.is_enabled = on and not annotations_are_off()
        for child in self._children.values():
            child._switch(on)
        return self


class DFTracerAI(Node):
    """A tree of one's own: ``DFTracerAI(cat="mine", name="load")``."""

    def __init__(self, cat: str = "ai", name: str = "ai", epoch: Any = None, step: Any = None, enable: bool = True) -> None:
        super().__init__(cat, name, enable, {key: value for key, value in (("epoch", epoch), ("step", step)) if value is not None})


def tree() -> Node:
    """All of it, switched on."""
    top = Node("ai", "ai")
    for cat, leaves in TREE.items():
        node = top._adopt(cat, Node(cat, cat))
        for leaf in leaves:
            at = node
            for name in leaf.split("."):
                at = at._children.get(name) or at._adopt(name, Node(cat, name))
    return top


ai = tree()
