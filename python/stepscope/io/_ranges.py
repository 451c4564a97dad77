"""Functions with a range around each call. A call shares nothing with other calls: threads, recursion and coroutines may overlap."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

from stepscope import _collect
from stepscope.io._members import KNOWN, members, value_text

Function = Callable[..., Any]
record_function = _collect.record_function


def add(one: _collect.record_function, values: dict[str, Any]) -> None:
    """Adds args to an open range. Its ``values`` are the text that it began with, and what was added since."""
    if one.values is None:
        one.values = (one.told or "", {})
    text, added = one.values
    added.update(values)
    one.tell(text_with(text, added))


class Told:
    """What a call tells of itself: arguments with known names, or attributes of ``self`` with them."""

    def __init__(self, function: Function, is_method: bool) -> None:
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        self.has_self = is_method or (bool(places) and places[0].name == "self")
        takes_any = any(one.kind == one.VAR_KEYWORD for one in parameters)
        here = {one.name: place for place, one in enumerate(places)}
        defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
        its = {one.name for one in parameters}
        names = [name for name in KNOWN if name in its or takes_any or self.has_self]
        self.parts = [(name, f',"{name}":', here.get(name, NOWHERE), defaults.get(name)) for name in names]
        """Name, its text, its place among the arguments, and its default."""

    @property
    def is_nothing(self) -> bool:
        return not self.parts

    def text(self, text: str, given: tuple[Any, ...], named: dict[str, Any]) -> str:
        """``text``, and the caller's values, else those of ``self``, else defaults. A value that is None is left out."""
        attributes = getattr(given[0], "__dict__", NOTHING) if self.has_self and given else NOTHING
        count = len(given)
        for name, key, place, default in self.parts:
            if place < count:
                value = given[place]
            elif name in named:
                value = named[name]
            else:
                value = attributes.get(name)
                if value is None:
                    value = default
            if value is not None:
                text += key + (str(value) if type(value) is int else value_text(value))
        return text


NOTHING: dict[str, Any] = {}
NOWHERE = sys.maxsize


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
    of = told.text

    if told.is_nothing:

        @functools.wraps(function)
        def wrapper(*given: Any, **named: Any) -> Any:
            with record_function(name, owner, text):
                return function(*given, **named)

    else:

        @functools.wraps(function)
        def wrapper(*given: Any, **named: Any) -> Any:
            with record_function(name, owner, of(text, given, named)):
                return function(*given, **named)

    return wrapper


def wrapped_coroutine(owner: Any, name: str, text: str, function: Function, told: Told) -> Function:
    @functools.wraps(function)
    async def wrapper(*given: Any, **named: Any) -> Any:
        with record_function(name, owner, told.text(text, given, named)).in_context():
            return await function(*given, **named)

    return wrapper


def wrapped_generator(owner: Any, name: str, text: str, function: Function, told: Told) -> Function:
    @functools.wraps(function)
    def wrapper(*given: Any, **named: Any) -> Generator[Any, Any, Any]:
        this = told.text(text, given, named)
        generator = function(*given, **named)
        ask: Function = generator.send
        value: Any = None
        while True:
            try:
                with record_function(name, owner, this):
                    item = ask(value)
            except StopIteration as end:
                return end.value
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
        this = told.text(text, given, named)
        generator = function(*given, **named)
        ask: Function = generator.asend
        value: Any = None
        while True:
            try:
                with record_function(name, owner, this).in_context():
                    item = await ask(value)
            except StopAsyncIteration:
                return
            try:
                value = yield item
                ask = generator.asend
            except GeneratorExit:
                await generator.aclose()
                raise
            except BaseException as error:
                value, ask = error, generator.athrow

    return wrapper
