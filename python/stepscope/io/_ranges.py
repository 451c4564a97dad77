"""Functions with a range around each call. A call shares nothing with other calls: threads, recursion and coroutines may overlap."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextvars import ContextVar
from typing import Any

from stepscope import _collect
from stepscope.io._members import KNOWN, members

Function = Callable[..., Any]
Begin = Callable[[], _collect.record_function]
record_function = _collect.record_function


class Open:
    """A range that is open, and the one around it. ``update`` of its owner adds to ``values``."""

    __slots__ = ("before", "owner", "range", "text", "values")

    def __init__(self, owner: Any, range: _collect.record_function, text: str, before: Open | None) -> None:
        self.owner, self.range, self.text, self.before = owner, range, text, before
        self.values: dict[str, Any] | None = None

    def update(self, values: dict[str, Any]) -> None:
        if self.values is None:
            self.values = {}
        self.values.update(values)
        more = members(self.values)
        self.range.tell(f"{self.text},{more}" if self.text and more else self.text or more)


innermost: ContextVar[Open | None] = ContextVar("stepscope.io", default=None)
"""Of this thread or coroutine."""


def innermost_of(owner: Any) -> Open | None:
    """The innermost range that ``owner`` has open here."""
    one = innermost.get()
    while one is not None and one.owner is not owner:
        one = one.before
    return one


class Told:
    """What a call tells of itself: arguments with known names, or attributes of ``self`` with them."""

    def __init__(self, function: Function, is_method: bool) -> None:
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        self.places = {one.name: place for place, one in enumerate(places) if one.name in KNOWN}
        self.defaults = {one.name: one.default for one in parameters if one.name in KNOWN and one.default is not one.empty}
        self.takes_any = any(one.name in KNOWN or one.kind == one.VAR_KEYWORD for one in parameters)
        self.has_self = is_method or bool(places) and places[0].name == "self"

    @property
    def is_nothing(self) -> bool:
        return not self.takes_any and not self.has_self

    def of(self, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """The caller's values before defaults, and both before those of ``self``."""
        found: dict[str, Any] = {}
        if self.has_self and given:
            attributes = getattr(given[0], "__dict__", None)
            if attributes:
                for name in KNOWN:
                    value = attributes.get(name)
                    if value is not None:
                        found[name] = value
        if self.takes_any:
            for name in KNOWN:
                place = self.places.get(name)
                if name in named:
                    value = named[name]
                elif place is not None and place < len(given):
                    value = given[place]
                else:
                    value = self.defaults.get(name)
                if value is not None:
                    found[name] = value
        return found


def ranged(owner: Any, name: str, text: str, function: Function, is_method: bool = False) -> Any:
    """``function`` with a range named ``name`` whose args are ``text`` and what each call tells.

    A coroutine's range lasts until it returns. A generator has a range for each item: from when it is asked for one until it gives it.
    """
    told = Told(function, is_method)
    if inspect.isasyncgenfunction(function):
        return wrapped_async_generator(owner, name, text, function, told)
    if inspect.isgeneratorfunction(function):
        return wrapped_generator(owner, name, text, function, told)
    if inspect.iscoroutinefunction(function):
        return wrapped_coroutine(owner, name, text, function, told)
    return wrapped_function(owner, name, text, function, told)


def text_with(text: str, values: dict[str, Any]) -> str:
    more = members(values)
    return f"{text},{more}" if text and more else text or more


def wrapped_function(owner: Any, name: str, text: str, function: Function, told: Told) -> Function:
    get, put, back = innermost.get, innermost.set, innermost.reset
    of = None if told.is_nothing else told.of

    @functools.wraps(function)
    def wrapper(*given: Any, **named: Any) -> Any:
        values = of(given, named) if of is not None else None
        this = text_with(text, values) if values else text
        one = record_function(name).tell(this)
        token = put(Open(owner, one, this, get()))
        try:
            with one:
                return function(*given, **named)
        finally:
            back(token)

    return wrapper


def wrapped_coroutine(owner: Any, name: str, text: str, function: Function, told: Told) -> Function:
    @functools.wraps(function)
    async def wrapper(*given: Any, **named: Any) -> Any:
        this = text_with(text, told.of(given, named))
        one = record_function(name).tell(this)
        token = innermost.set(Open(owner, one, this, innermost.get()))
        try:
            with one:
                return await function(*given, **named)
        finally:
            innermost.reset(token)

    return wrapper


def wrapped_generator(owner: Any, name: str, text: str, function: Function, told: Told) -> Function:
    @functools.wraps(function)
    def wrapper(*given: Any, **named: Any) -> Generator[Any, Any, Any]:
        this = text_with(text, told.of(given, named))
        generator = function(*given, **named)
        ask: Function = generator.send
        value: Any = None
        while True:
            one = record_function(name).tell(this)
            token = innermost.set(Open(owner, one, this, innermost.get()))
            try:
                with one:
                    item = ask(value)
            except StopIteration as end:
                return end.value
            finally:
                innermost.reset(token)
            try:
                value = yield item
                ask = generator.send
            except GeneratorExit:
                generator.close()
                raise
            except BaseException as error:
                value, ask = error, generator.throw

    return wrapper


def wrapped_async_generator(owner: Any, name: str, text: str, function: Function, told: Told) -> Function:
    @functools.wraps(function)
    async def wrapper(*given: Any, **named: Any) -> AsyncGenerator[Any, Any]:
        this = text_with(text, told.of(given, named))
        generator = function(*given, **named)
        ask: Function = generator.asend
        value: Any = None
        while True:
            one = record_function(name).tell(this)
            token = innermost.set(Open(owner, one, this, innermost.get()))
            try:
                with one:
                    item = await ask(value)
            except StopAsyncIteration:
                return
            finally:
                innermost.reset(token)
            try:
                value = yield item
                ask = generator.asend
            except GeneratorExit:
                await generator.aclose()
                raise
            except BaseException as error:
                value, ask = error, generator.athrow

    return wrapper
