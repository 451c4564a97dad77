"""The tree ``ai``: names for what a training does, e.g. ``ai.compute.forward``. The category is the top node, the name the leaf."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any

from stepscope.io._dft import dft_fn
from stepscope.io._ranges import ranged

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


class Node:
    """A decorator, a block, and the parent of nodes below it.

        @ai.data.item
        def read(self, image_idx): ...

        with ai.compute.forward(step=3): ...
        for batch in ai.dataloader.fetch.iter(loader): ...
        ai.pipeline.epoch.start(); ...; ai.pipeline.epoch.stop()
    """

    def __init__(self, cat: str, name: str, enable: bool = True, fixed: dict[str, Any] | None = None) -> None:
        self._cat, self._name = cat, name
        self._fixed = fixed or {}
        self._children: dict[str, Node] = {}
        self._annotation = made(cat, name, enable, self._fixed)

    def __getattr__(self, name: str) -> Node:
        try:
            return self.__dict__["_children"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(f"ai has no {self.__dict__.get('_name', '')}.{name}; derive(name={name!r}) makes one") from None

    @property
    def is_enabled(self) -> bool:
        return self._annotation.is_enabled

    def __call__(self, function: Callable[..., Any] | None = None, *, enable: bool = True, **values: Any) -> Any:
        """``@node`` or ``@node(step=3)`` decorates; ``with node(step=3):`` is a block with these args. ``enable`` is for this use."""
        is_on = enable and self.is_enabled
        if function is not None:
            if not is_on:
                return function
            return ranged(self._annotation, self._range_name(function), self._annotation._text, function)
        return Node(self._cat, self._name, is_on, {**self._fixed, **values})

    def _range_name(self, function: Callable[..., Any]) -> str:
        return self._name or function.__qualname__

    def init(self, function: Callable[..., Any]) -> Any:
        """Decorates a constructor."""
        return ranged(self._annotation, f"{self._name}.init", self._annotation._text, function, is_method=True) if self.is_enabled else function

    def iter(self, iterable: Iterable[Any], name: str | None = None, iter_name: str = "step", include_yield: bool = True, enable: bool = True) -> Iterator[Any]:
        """The items; ``NAME.iter`` is the wait for each, ``NAME.yield`` the time that the body has it."""
        if not enable:
            return iter(iterable)
        return self._annotation.iter(iterable, name or self._name, iter_name, include_yield)

    def start(self, metadata: bool = False, **values: Any) -> Node:
        """Begins a range until stop(), in this thread or coroutine. ``metadata`` is accepted and not needed."""
        self._annotation.__enter__()
        if values:
            self.update(**values)
        return self

    def stop(self) -> Node:
        """Ends the range that start() began last. Without one, it does nothing."""
        self._annotation.__exit__(None, None, None)
        return self

    def __enter__(self) -> Node:
        self._annotation.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self._annotation.__exit__(kind, error, where)

    def update(self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, args: dict[str, Any] | None = None) -> Node:
        """Adds args to what is open here, of this node and of those below it; else to their later ranges."""
        self._annotation.update(epoch, step, image_idx, image_size, args)
        for child in self._children.values():
            child.update(epoch, step, image_idx, image_size, args)
        return self

    def derive(self, name: str, **values: Any) -> Node:
        """A node of the same category with a name of its own; later also ``node.NAME``."""
        child = Node(self._cat, name, self.is_enabled, {**self._fixed, **values})
        self._children[name] = child
        return child

    def enable(self) -> Node:
        """Switches this node and those below it on. Functions that were decorated meanwhile stay as they are."""
        return self._switch(True)

    def disable(self) -> Node:
        return self._switch(False)

    def _switch(self, on: bool) -> Node:
        self._annotation.is_enabled = on and made(self._cat, self._name, True, {}).is_enabled
        for child in self._children.values():
            child._switch(on)
        return self

    def flush(self) -> Node:
        self._annotation.flush()
        return self


class DFTracerAI(Node):
    """A tree of one's own: ``DFTracerAI(cat="mine", name="load")``."""

    def __init__(self, cat: str = "ai", name: str = "ai", epoch: Any = None, step: Any = None, enable: bool = True) -> None:
        super().__init__(cat, name, enable, {key: value for key, value in (("epoch", epoch), ("step", step)) if value is not None})


def made(cat: str, name: str, enable: bool, fixed: dict[str, Any]) -> dft_fn:
    values = {key: fixed[key] for key in ("epoch", "step", "image_idx", "image_size") if key in fixed}
    one = dft_fn(cat, name=name, enable=enable, **values)
    others = {key: value for key, value in fixed.items() if key not in values}
    if others:
        one._fixed.update(others)
        one._text = text_of(one._fixed)
    return one


def text_of(values: dict[str, Any]) -> str:
    from stepscope.io._members import members

    return members(values)


def tree() -> Node:
    """All of it, switched on."""
    top = Node("ai", "ai")
    for cat, leaves in TREE.items():
        node = Node(cat, cat)
        top._children[cat] = node
        for leaf in leaves:
            above = functools.reduce(lambda at, name: at._children.setdefault(name, Node(cat, name)), leaf.split(".")[:-1], node)
            name = leaf.split(".")[-1]
            above._children[name] = Node(cat, name)
    return top


ai = tree()
