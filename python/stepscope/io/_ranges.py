"""Functions with a range around each call. A call shares nothing with other calls: threads, recursion and coroutines may overlap."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from typing import Any

from stepscope._collect import Block, CallRanges, members_with, record_function

Function = Callable[..., Any]
KNOWN = ("epoch", "step", "image_idx", "image_size")
"""Arguments that DFTracer's functions take by name."""
NOWHERE = sys.maxsize


def ranges_of(owner: Any, name: str, text: str, function: Function, is_method: bool) -> CallRanges:
    """What makes a range of a call: with ``text``, and the arguments that have known names, or attributes of ``self`` with them."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    has_self = is_method or (bool(places) and places[0].name == "self")
    takes_any = any(one.kind == one.VAR_KEYWORD for one in parameters)
    here = {one.name: place for place, one in enumerate(places)}
    defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
    its = {one.name for one in parameters}
    names = [name for name in KNOWN if name in its or takes_any or has_self]
    parts = tuple((name, f',"{name}":', here.get(name, NOWHERE), defaults.get(name)) for name in names)
    return CallRanges(owner, name, text, parts, has_self)


def ranged(owner: Any, name: str, text: str, function: Function, is_method: bool = False) -> Any:
    """``function`` with a range named ``name`` whose args are ``text`` and what each call tells.

    A coroutine's range lasts until it returns. A generator has a range for each item: from when it is asked for one until it gives it.
    """
    ranges = ranges_of(owner, name, text, function, is_method)
    if inspect.isasyncgenfunction(function):
        return wrapped_async_generator(ranges, function)
    if inspect.isgeneratorfunction(function):
        return wrapped_generator(ranges, function)
    if inspect.iscoroutinefunction(function):
        return wrapped_coroutine(ranges, function)
    return wrapped_function(ranges, function)


def wrapped_function(ranges: CallRanges, function: Function) -> Function:
    range_of = ranges.range

    @functools.wraps(function)
    def wrapper(*given: Any, **named: Any) -> Any:
        with range_of(given, named):
            return function(*given, **named)

    return wrapper


def wrapped_coroutine(ranges: CallRanges, function: Function) -> Function:
    @functools.wraps(function)
    async def wrapper(*given: Any, **named: Any) -> Any:
        with ranges.range(given, named).in_context():
            return await function(*given, **named)

    return wrapper


def wrapped_generator(ranges: CallRanges, function: Function) -> Function:
    @functools.wraps(function)
    def wrapper(*given: Any, **named: Any) -> Generator[Any, Any, Any]:
        text = ranges.text(given, named)
        generator = function(*given, **named)
        ask: Function = generator.send
        value: Any = None
        while True:
            try:
                with ranges.range_with(text):
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


def wrapped_async_generator(ranges: CallRanges, function: Function) -> Function:
    @functools.wraps(function)
    async def wrapper(*given: Any, **named: Any) -> AsyncGenerator[Any, Any]:
        text = ranges.text(given, named)
        generator = function(*given, **named)
        ask: Function = generator.asend
        value: Any = None
        while True:
            try:
                with ranges.range_with(text).in_context():
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


def loop(block: Block, iterable: Iterable[Any], name: str, iter_name: str, include_yield: bool) -> Iterator[Any]:
    """The items, with the ranges ``NAME.iter`` and ``NAME.yield`` if the block is on."""
    if not block.is_enabled:
        yield from iterable
        return
    waits, works = f"{name}.iter", f"{name}.yield"
    items = iter(iterable)
    number = 0
    while True:
        number += 1
        text = members_with(block._text, {iter_name: number})
        with record_function(waits).tell(text):
            try:
                item = next(items)
            except StopIteration:
                return
        if include_yield:
            with record_function(works).tell(text):
                yield item
        else:
            yield item
