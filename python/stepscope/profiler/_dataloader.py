"""Data loading: workers record themselves, and a batch is known where it is made and where it is taken.

While something is recorded, a link in the user's temporary folder leads to the recording. A worker looks at it before each batch
and records beside that file; where there is no link it records nothing. Parts of PyTorch's loaders are replaced while a profiler
is on; what is not as expected there goes its way as if nothing had been replaced.
"""

from __future__ import annotations

import atexit
import contextlib
import inspect
import json
import multiprocessing
import os
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stepscope import _collect
from stepscope.profiler._recording import FLOPS, OVERLOADS, SHAPES, Recording, own_file

VARIABLE = "STEPSCOPE_LOADER"
"""Of the environment: what workers have to know."""
INHERITED = os.environ.get(VARIABLE)
"""As it was before this process became one that is recorded."""
MEGABYTES = 32
"""What a worker may record."""

Function = Callable[..., Any]
users: weakref.WeakSet[Any] = weakref.WeakSet()
"""Profilers that are on."""
originals: dict[Function, Function] = {}
"""By what stands in their place, or stood there."""


def follow(profiler: Any, flags: int) -> None:
    """Loaders that are made from here on are seen, until unfollow() or the profiler's end."""
    if profiler not in users:
        weakref.finalize(profiler, undo_if_unused).atexit = False
        users.add(profiler)
    with contextlib.suppress(Exception):  # a PyTorch that has no such loaders
        replace()
        told = {"parent": os.getpid(), "link": str(link()), "flags": SHAPES * bool(flags & (SHAPES | FLOPS)) | flags & OVERLOADS}
        os.environ[VARIABLE] = json.dumps(told)


def unfollow(profiler: Any) -> None:
    users.discard(profiler)
    undo_if_unused()


def show(recording: Path) -> None:
    """Workers record beside it from their next batch on."""
    with contextlib.suppress(OSError):
        part = link().with_suffix(".part")
        part.unlink(missing_ok=True)
        part.symlink_to(recording.absolute())
        part.replace(link())


def hide() -> None:
    """Workers stop before their next batch."""
    with contextlib.suppress(OSError):
        link().unlink()


def link() -> Path:
    return own_file("loader")


def parts() -> list[tuple[Any, str, Function]]:
    """What is replaced: where it is, its name, and by what."""
    from torch.utils.data import dataloader
    from torch.utils.data._utils import pin_memory, worker

    several = dataloader._MultiProcessingDataLoaderIter
    out: list[tuple[Any, str, Function]] = [
        (worker, "_worker_loop", worker_loop),
        (pin_memory, "_pin_memory_loop", pin_loop),
        (several, "_reset", reset),
        (several, "_next_data", next_data),
        (dataloader._SingleProcessDataLoaderIter, "__init__", single_init),
    ]
    base = dataloader._BaseDataLoaderIter
    if base.__next__ is marked_next or not marks_itself(base.__next__):
        out.append((base, "__next__", marked_next))
    return out


def marks_itself(step: Function) -> bool:
    """Whether PyTorch makes a range of each ``__next__``, also when its own profiler is off."""
    names = getattr(getattr(step, "__code__", None), "co_names", ())
    return "record_function" in names and not any("enabled" in name for name in names)


def replace() -> None:
    for owner, name, ours in parts():
        present = getattr(owner, name, None)
        if present is not None and present is not ours:
            originals[ours] = present
            setattr(owner, name, ours)


def undo_if_unused() -> None:
    if not users:
        undo()


def undo() -> None:
    """What somebody else has put in a place of ours stays, with ours below it, which then does nothing."""
    if not originals:
        return
    hide()
    os.environ.pop(VARIABLE, None)
    for owner, name, ours in parts():
        if getattr(owner, name, None) is ours:
            setattr(owner, name, originals[ours])


atexit.register(undo)
os.register_at_fork(after_in_child=users.clear)  # its parent's are not on in a child


class Source:
    """A queue; what comes out of it is told."""

    def __init__(self, queue: Any, got: Callable[[Any], None]) -> None:
        self.queue, self.got = queue, got

    def get(self, *args: Any, **named: Any) -> Any:
        task = self.queue.get(*args, **named)
        with contextlib.suppress(Exception):
            self.got(task)
        return task

    def __getattr__(self, name: str) -> Any:
        return getattr(self.queue, name)


class Sink:
    """A queue; that something goes into it is told."""

    def __init__(self, queue: Any, end: Callable[[], None]) -> None:
        self.queue, self.end = queue, end

    def put(self, *args: Any, **named: Any) -> Any:
        with contextlib.suppress(Exception):
            self.end()
        return self.queue.put(*args, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.queue, name)


class Ranges:
    """A range from what comes out of a queue to what goes into the next one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.range: _collect.record_function | None = None

    def begin(self, task: Any = None) -> None:
        """One that was begun before and never ended is given up: its task was not worked on."""
        self.range = _collect.record_function(self.name)
        self.range.__enter__()

    def end(self) -> None:
        if self.range is not None:
            self.range.__exit__(None, None, None)
            self.range = None


class Collate:
    """A loader's ``collate_fn``, as a range."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def __call__(self, *args: Any, **named: Any) -> Any:
        with _collect.record_function("DataLoader.collate"):
            return self.function(*args, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)


class Worker:
    """This process, which is a worker, and its present recording."""

    def __init__(self, told: dict[str, Any], number: int) -> None:
        self.link = str(told["link"])
        self.parent = int(told["parent"])
        self.flags = int(told["flags"])
        self.number = number
        self.epoch = 0
        self.fetch = Ranges("DataLoader.fetch")
        self.target: str | None = None
        self.recording: Recording | None = None

    def look(self) -> None:
        """Records what the parent records now."""
        try:
            target = os.readlink(self.link)
        except OSError:
            target = None
        if target == self.target:
            return
        self.target = target
        self.stop()
        if target is not None:
            self.start(Path(target))

    def start(self, beside: Path) -> None:
        path = beside.with_name(f"{beside.stem}.worker{self.number}_{os.getpid()}.stepscope")
        self.recording = Recording(self.flags, path, MEGABYTES, worker_of=(self.parent, self.number))
        self.recording.start()

    def stop(self) -> None:
        if self.recording is not None:
            self.recording.stop()
            self.recording = None

    def got(self, task: Any) -> None:
        self.look()
        if type(task).__name__ == "_ResumeIteration":
            self.epoch += 1
        elif isinstance(task, tuple) and len(task) == 2 and isinstance(task[0], int):
            self.fetch.begin()
            _collect.flow(batch_id(os.getpid(), self.epoch, task[0]), True)


def batch_id(worker: int, epoch: int, index: int) -> int:
    """Of a batch by the worker that makes it; loaders count from 0 again in each epoch."""
    return (worker & 0x3FFFFF) << 42 | (epoch & 0xFFF) << 30 | (index & 0x3FFFFFFF)


def worker_loop(*args: Any, **named: Any) -> Any:
    """In the place of PyTorch's; a process that was spawned finds it by its name."""
    from torch.utils.data._utils import worker as module

    original = originals.get(worker_loop, module._worker_loop)
    worker = None
    with contextlib.suppress(Exception):
        given = inspect.signature(original).bind(*args, **named)
        worker = watched(given.arguments)
    if worker is None:
        return original(*args, **named)
    try:
        return original(*given.args, **given.kwargs)
    finally:
        with contextlib.suppress(Exception):
            worker.stop()


def watched(given: dict[str, Any]) -> Worker | None:
    """The arguments become such that the worker sees its batches; None, and nothing changes, where it is not to record."""
    told = json.loads(os.environ[VARIABLE])
    if told["parent"] == os.getpid() and INHERITED is not None:
        told = json.loads(INHERITED)
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid != told["parent"]:
        return None
    worker = Worker(told, int(given["worker_id"]))
    wrapped = {
        "index_queue": Source(given["index_queue"], worker.got),
        "data_queue": Sink(given["data_queue"], worker.fetch.end),
        "collate_fn": Collate(given["collate_fn"]),
    }
    outside = sys.modules.get("stepscope.profiler._outside")
    if outside is not None and outside.outside is not None:
        outside.outside.withdraw()
    _collect.python_stop()  # a forked process has its parent's hook
    with contextlib.suppress(Exception):
        worker.look()
    given.update(wrapped)
    return worker


def pin_loop(*args: Any, **named: Any) -> Any:
    """The thread that copies batches into pinned memory."""
    original = originals[pin_loop]
    given = None
    with contextlib.suppress(Exception):
        bound = inspect.signature(original).bind(*args, **named)
        pins = Ranges("DataLoader.pin_memory")
        queues = Source(bound.arguments["in_queue"], pins.begin), Sink(bound.arguments["out_queue"], pins.end)
        bound.arguments["in_queue"], bound.arguments["out_queue"] = queues
        given = bound
    return original(*args, **named) if given is None else original(*given.args, **given.kwargs)


class Tasks(dict[int, Any]):
    """Of an iterator: the batches that are not taken yet. Remembers which was taken last, and of which worker it is."""

    epoch = 0
    last: tuple[int, int] | None = None

    def pop(self, index: int, *default: Any) -> Any:
        self.remember(index)
        return super().pop(index, *default)

    def __delitem__(self, index: int) -> None:
        self.remember(index)
        super().__delitem__(index)

    def remember(self, index: int) -> None:
        task = self.get(index)
        self.last = (index, task[0]) if task else None


def reset(self: Any, *args: Any, **named: Any) -> Any:
    """An epoch begins. An iterator that was made before the profiler was on stays as it is."""
    before = vars(self).get("_task_info")
    done = originals[reset](self, *args, **named)
    with contextlib.suppress(Exception):
        if before is None or isinstance(before, Tasks):
            tasks = Tasks(self._task_info)
            tasks.epoch = 0 if before is None else before.epoch + 1
            self._task_info = tasks
    return done


def next_data(self: Any) -> Any:
    data = originals[next_data](self)
    with contextlib.suppress(Exception):
        tasks = self._task_info
        if isinstance(tasks, Tasks) and tasks.last is not None:
            index, worker = tasks.last
            _collect.flow(batch_id(self._workers[worker].pid, tasks.epoch, index), False)
    return data


def single_init(self: Any, *args: Any, **named: Any) -> None:
    originals[single_init](self, *args, **named)
    with contextlib.suppress(Exception):
        fetcher = self._dataset_fetcher
        fetcher.collate_fn = Collate(fetcher.collate_fn)


def marked_next(self: Any) -> Any:
    with _collect.record_function(f"enumerate(DataLoader)#{type(self).__name__}.__next__"):
        return originals[marked_next](self)
