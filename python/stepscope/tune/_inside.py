"""Inside a copy of a program: finds the DataLoader that the training steps iterate, gives it other settings, and notes its waits."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import threading
import time
import weakref
from typing import Any

from stepscope.trial._facts import holds_cuda
from stepscope.trial.changes import effect
from stepscope.tune import _memory
from stepscope.tune._loader_meter import WithThreads
from stepscope.tune._refusals import shares_work
from stepscope.tune._search import cores
from stepscope.tune._settings import Settings, settings_of

Path = list[str]
"""The lines of the program that led to a call, the innermost first."""
FOREIGN = ("/torch/", "/stepscope/", "/site-packages/", "/dist-packages/", "<frozen", "/contextlib.py", "/runpy.py")


class Made:
    """A DataLoader of the program."""

    def __init__(self, loader: Any, path: Path) -> None:
        self.loader = weakref.ref(loader)
        self.path = path
        self.steps = 0
        """In which it gave a batch."""
        self.batch = 0
        """Bytes of a batch."""
        self.about: dict[str, Any] = {}
        """What is told of it; from its first iterator on, as a loader that only a loop holds is gone before the first step."""


class Loading:
    """``told``: ``path`` is that of the loader to change, absent in the first copy, and ``settings`` are the ones to apply."""

    def __init__(self, torch: Any, told: dict[str, Any]) -> None:
        self.torch = torch
        self.path: Path | None = told.get("path")
        self.settings = Settings(**told["settings"]) if told.get("settings") else None
        self.made: list[Made] = []
        self.iterators: weakref.WeakKeyDictionary[Any, Made] = weakref.WeakKeyDictionary()
        self.asked: set[int] = set()
        """Places in ``made`` of loaders that gave a batch since the last step's end."""
        self.waits: list[int] = []
        """Nanoseconds that each step waited for batches."""
        self.waited = 0
        self.main = threading.main_thread().ident
        self.watch_made()
        self.watch_iterators()
        if self.settings is not None and self.settings.non_blocking:
            self.copy_without_waiting()

    def watch_made(self) -> None:
        kind, loading = self.torch.utils.data.DataLoader, self
        make = kind.__init__
        form = inspect.signature(make)

        def made(loader: Any, *args: Any, **named: Any) -> None:
            path = call_path()
            if loading.settings is not None and path == loading.path:
                args, named = loading.changed(form.bind(loader, *args, **named))
            make(loader, *args, **named)
            loading.made.append(Made(loader, path))

        made.__signature__ = form  # type: ignore[attr-defined]
        kind.__init__ = made

    def changed(self, bound: inspect.BoundArguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a loader with the settings."""
        assert self.settings is not None
        given = bound.arguments
        for name, value in self.settings.arguments().items():
            if value is not None:
                given[name] = value
            else:
                given.pop(name, None)
        if given.get("batch_sampler") is not None or given.get("batch_size", 1) is None:
            given.pop("drop_last", None)  # PyTorch allows only the default beside them
        if self.settings.threads > 1:
            given["worker_init_fn"] = WithThreads(given.get("worker_init_fn"), self.settings.threads)
        effect(f"DataLoader({self.settings})")
        words = {name: value for name, value in given.items() if name not in ("self", "kwargs")}
        return (), {**words, **given.get("kwargs", {})}

    def watch_iterators(self) -> None:
        kind, loading = sys.modules["torch.utils.data.dataloader"]._BaseDataLoaderIter, self
        make, give = kind.__init__, kind.__next__

        def made(iterator: Any, loader: Any, *args: Any, **named: Any) -> None:
            make(iterator, loader, *args, **named)
            for one in loading.made:
                if one.loader() is loader:
                    loading.iterators[iterator] = one
                    with contextlib.suppress(Exception):  # of the dataset; must not end the program
                        one.about = one.about or loading.about(loader)

        def given(iterator: Any) -> Any:
            begun = time.perf_counter_ns()
            batch = give(iterator)
            if threading.get_ident() == loading.main:
                loading.note(iterator, batch, time.perf_counter_ns() - begun)
            return batch

        kind.__init__, kind.__next__ = made, given

    def note(self, iterator: Any, batch: Any, took: int) -> None:
        one = self.iterators.get(iterator)
        if one is None:
            return
        self.asked.add(self.made.index(one))
        self.waited += took
        if not one.batch:
            one.batch = _memory.batch_bytes(batch)

    def border(self) -> None:
        """The end of a step."""
        for place in self.asked:
            self.made[place].steps += 1
        self.waits.append(self.waited)
        self.asked, self.waited = set(), 0

    def copy_without_waiting(self) -> None:
        tensor = self.torch.Tensor
        to, cuda = tensor.to, tensor.cuda

        def is_pinned(one: Any, named: dict[str, Any]) -> bool:
            return not one.is_cuda and "non_blocking" not in named and one.is_pinned()

        def to_without_waiting(one: Any, *args: Any, **named: Any) -> Any:
            return to(one, *args, **named, **({"non_blocking": True} if is_pinned(one, named) else {}))

        def cuda_without_waiting(one: Any, *args: Any, **named: Any) -> Any:
            more = {"non_blocking": True} if len(args) < 2 and is_pinned(one, named) else {}
            return cuda(one, *args, **named, **more)

        tensor.to, tensor.cuda = to_without_waiting, cuda_without_waiting

    def told(self) -> dict[str, Any]:
        """About the loader that gave batches to the most steps; of those, the one that was made first."""
        waits, self.waits = self.waits, []
        told: dict[str, Any] = {"waits": waits, "loaders": len(self.made), "cores": cores()}
        one = max(self.made, key=lambda made: made.steps, default=None)
        if one is None or not one.steps or not one.about:
            return told
        return {**told, **one.about, "path": one.path, "has_device": self.torch.cuda.is_initialized(), "batch": one.batch}

    def about(self, loader: Any) -> dict[str, Any]:
        return {
            "settings": settings_of(loader).told(),
            "what": f"DataLoader of {type(loader.dataset).__name__}" + ("" if loader.batch_size is None else f", batches of {loader.batch_size}"),
            "is_iterable": isinstance(loader.dataset, self.torch.utils.data.IterableDataset),
            "shares_work": loader.num_workers > 0 or shares_work(loader.dataset),
            "has_device_data": holds_cuda(loader.dataset),
            "epoch": length(loader),
            "short_batch": has_short_batch(loader),
            "spawns": bool(loader.multiprocessing_context),
        }


def length(loader: Any) -> int:
    try:
        return len(loader)
    except TypeError:
        return 0


def has_short_batch(loader: Any) -> bool:
    if loader.batch_sampler is None or not loader.batch_size or loader.drop_last:
        return False
    try:
        return bool(len(loader.sampler) % loader.batch_size)
    except TypeError:
        return False


def call_path() -> Path:
    """Of the call that is made now. Equal calls of a loop have equal paths."""
    path = []
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if not any(part in name for part in FOREIGN):
            path.append(f"{os.path.basename(name)}:{frame.f_lineno}")
        frame = frame.f_back  # type: ignore[assignment]
    return path
