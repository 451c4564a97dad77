"""Shared by the changes of DataLoaders: other arguments than the program gives."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from stepscope.trial.changes import Undo, effect, replace


def change_arguments(torch: Any, choose: Callable[[dict[str, Any]], dict[str, Any]]) -> Undo:
    """``choose`` gets a loader's arguments and returns those to replace."""
    kind = torch.utils.data.DataLoader
    make = kind.__init__
    form = inspect.signature(make)
    iterable = torch.utils.data.IterableDataset

    def made(loader: Any, *args: Any, **named: Any) -> None:
        bound = form.bind(loader, *args, **named)
        bound.apply_defaults()
        given = dict(bound.arguments)
        given["is_iterable"] = isinstance(given["dataset"], iterable)
        others = choose(given)
        if others:
            bound = form.bind(loader, *args, **named)
            bound.arguments.update(others)
            args, named = bound.args[1:], bound.kwargs
            effect("DataLoader(" + ", ".join(f"{key}={value}" for key, value in others.items()) + ")")
        make(loader, *args, **named)

    made.__signature__ = form  # type: ignore[attr-defined]
    return replace(kind, "__init__", made)
