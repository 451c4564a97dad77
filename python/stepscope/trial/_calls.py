"""Watches the calls of outermost modules: those that no other module's call encloses."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable
from typing import Any

Given = tuple[tuple[Any, ...], dict[str, Any]]


class Calls:
    """Only modules with parameters count, so that a loss function is not the model. Only the main thread counts."""

    def __init__(self, torch: Any) -> None:
        self.kind = torch.nn.Module
        self.original: Any = None
        self.first: list[Callable[[Any], None]] = []
        """Called once per module, before its first outermost call."""
        self.arguments: list[Callable[[Any, Given], Given]] = []
        self.around: list[Callable[[Any], Any]] = []
        """Each makes a context manager for a call."""
        self.after: list[Callable[[int], None]] = []
        """Called after each call with the module's number, in the order of their first calls."""
        self.numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.inside = False
        self.result: Any = None
        """Of the last outermost call, while ``after`` is called."""

    def install(self) -> None:
        if self.original is not None:
            return
        self.original = original = self.kind.__call__
        main = threading.main_thread().ident
        watcher = self

        def called(module: Any, *args: Any, **named: Any) -> Any:
            if watcher.inside or threading.get_ident() != main:
                return original(module, *args, **named)
            number = watcher.number(module)
            if number < 0:
                return original(module, *args, **named)
            watcher.inside = True
            try:
                result = watcher.call(module, args, named)
            finally:
                watcher.inside = False
            watcher.result = result
            for function in watcher.after:
                function(number)
            watcher.result = None
            return result

        self.kind.__call__ = called

    def remove(self) -> None:
        if self.original is not None:
            self.kind.__call__ = self.original
            self.original = None

    def number(self, module: Any) -> int:
        """-1 for a module without parameters."""
        found = self.numbers.get(module)
        if found is None:
            has_parameters = any(True for _ in module.parameters())
            found = sum(one >= 0 for one in self.numbers.values()) if has_parameters else -1
            self.numbers[module] = found
            if has_parameters:
                for function in self.first:
                    function(module)
        return found

    def call(self, module: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        for function in self.arguments:
            args, named = function(module, (args, named))
        call = self.original or self.kind.__call__
        if not self.around:
            return call(module, *args, **named)
        with contextlib.ExitStack() as stack:
            for make in self.around:
                stack.enter_context(make(module))
            return call(module, *args, **named)
