"""Why a loader cannot be measured: it could not be iterated again and again with the same data."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

from stepscope.tune._randomness import RandomState

LOOKED_AT = 64
"""Batches of a sampler that are compared."""


def why_not(torch: Any, loader: Any) -> str:
    """A sentence, or "" if the loader can be measured."""
    if isinstance(loader, Iterator):
        return f"this is an iterator ({type(loader).__name__}), which gives its batches only once: give the DataLoader itself"
    kind = torch.utils.data.DataLoader
    if not isinstance(loader, kind):
        return f"this is a {type(loader).__name__}: give a torch.utils.data.DataLoader"
    if type(loader).__iter__ is not kind.__iter__:
        return f"{type(loader).__name__} has an __iter__ of its own: give the DataLoader that it is made from"
    if isinstance(loader.dataset, torch.utils.data.IterableDataset):
        return why_not_iterable(loader)
    return why_not_sampler(torch, loader)


def why_not_iterable(loader: Any) -> str:
    dataset, name = loader.dataset, type(loader.dataset).__name__
    if isinstance(dataset, Iterator):
        return f"{name} is its own iterator, so it gives its data only once: let __iter__ return a new iterator"
    one, other = iter(dataset), iter(dataset)
    if one is other or one is dataset:
        return f"__iter__ of {name} returns the same iterator each time, so it gives its data only once"
    if not loader.num_workers and not shares_work(dataset):
        return f"{name} is an IterableDataset: each worker would read all of it, unless it shares the work out by get_worker_info()"
    return ""


def shares_work(dataset: Any) -> bool:
    code = getattr(getattr(type(dataset), "__iter__", None), "__code__", None)
    return code is not None and "get_worker_info" in code.co_names


def why_not_sampler(torch: Any, loader: Any) -> str:
    sampler = index_sampler(loader)
    name = sampler_name(loader)
    for one in (sampler, getattr(sampler, "sampler", None), loader.sampler):
        if isinstance(one, Iterator):
            return f"its sampler is an iterator ({type(one).__name__}), which gives its indices only once"
    try:
        first = indices(torch, loader, copied(loader))
        twice = copied(loader)
        indices(torch, loader, twice)
        second = indices(torch, loader, twice)
    except Exception as error:
        return f"its sampler {name} cannot be copied or iterated ({type(error).__name__}: {error})"
    if not first:
        return "it gives no batch"
    if first != second:
        return f"its sampler {name} gives other indices on its second pass with the same seeds, so settings would not load the same data"
    return ""


def sampler_name(loader: Any) -> str:
    inner = getattr(loader.batch_sampler, "sampler", None)
    return type(inner if inner is not None else index_sampler(loader)).__name__


def index_sampler(loader: Any) -> Any:
    """What gives the indices of each batch or, without batches, of each item."""
    return loader.sampler if loader.batch_sampler is None else loader.batch_sampler


def copied(loader: Any) -> Any:
    """The sampler with a state of its own; the dataset and PyTorch's generators are shared."""
    sampler = index_sampler(loader)
    shared = [loader.dataset, loader.generator, getattr(sampler, "generator", None), getattr(loader.sampler, "generator", None)]
    return copy.deepcopy(sampler, {id(one): one for one in shared if one is not None})


def indices(torch: Any, loader: Any, sampler: Any, most: int = LOOKED_AT) -> list[Any]:
    """The first indices that a sampler gives, by batch. Draws no random number of the program."""
    with RandomState(torch, sampler, loader.generator):
        return list(itertools.islice(sampler, most))
