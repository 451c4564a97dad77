"""Data loading: each worker records itself, and a batch is followed from the worker that makes it to the loop that takes it.

While the program is recorded, a link in the user's temporary folder points to the recording. A worker checks the link before
each batch and records into a file beside that recording; without a link it records nothing. Some functions of PyTorch's loaders
are replaced while a profiler is on. If one is missing or fails, the loader works as without a profiler, and the recording
notes what is missing.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import inspect
import json
import multiprocessing
import os
import sys
import time
import weakref
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _collect
from stepscope._errors import Error
from stepscope.profiler import _batches, _recording
from stepscope.profiler._batches import Collate, Function, Noted, Ranges, Sink, Source, lacking, not_recorded, reason
from stepscope.profiler._places import own_file
from stepscope.profiler._recording import FLOPS, NEWEST, OVERLOADS, SHAPES, SHAPES_WHILE_CHEAP, STACKS, Recording
from stepscope.profiler._sources import name_lines

VARIABLE = "STEPSCOPE_LOADER"
"""The environment variable with the workers' options, as JSON."""
INHERITED = os.environ.get(VARIABLE)
"""The variable's value when this process began: set if this process is itself a worker."""
MEGABYTES = 32
"""Maximum size of a worker's recording."""

WORKERS = "what DataLoader workers do"
LINKS = "which DataLoader worker made a batch"
PINNING = "copies of batches into pinned memory"
COLLATING = "collating in the main process"
WAITS = "waits for batches"

users: weakref.WeakSet[Any] = weakref.WeakSet()
"""Profilers that are on."""
originals: dict[Function, Function] = {}
"""PyTorch's function by its replacement; kept when the replacement is undone."""


class Part(NamedTuple):
    """A function of PyTorch that we replace."""

    owner: str
    """The function's module; after a colon, its class."""
    name: str
    ours: Function
    takes: tuple[str, ...]
    """Arguments that the replacement needs."""
    shows: str
    """What is not recorded without it."""


def follow(profiler: Any, flags: int) -> None:
    """Records loaders that are made later, until unfollow() or the profiler's end."""
    if profiler not in users:
        weakref.finalize(profiler, undo_if_unused).atexit = False
        users.add(profiler)
    replace()
    try:
        told = {
            "parent": os.getpid(),
            "link": str(link()),
            "flags": SHAPES * bool(flags & (SHAPES | FLOPS)) | flags & (OVERLOADS | SHAPES_WHILE_CHEAP | NEWEST),
            "sampled": getattr(profiler, "with_stack", False) == "sampled",
        }
    except (OSError, Error) as error:
        not_recorded(WORKERS, reason(error))
        return
    os.environ[VARIABLE] = json.dumps(told)


def unfollow(profiler: Any) -> None:
    users.discard(profiler)
    undo_if_unused()


def show(recording: Path) -> None:
    """Lets workers record beside ``recording`` from their next batch on, and notes in the recording what is missing."""
    for sentence in lacking:
        _recording.miss(sentence)
    try:
        part = link().with_suffix(".part")
        part.unlink(missing_ok=True)
        part.symlink_to(recording.absolute())
        part.replace(link())
    except (OSError, Error) as error:
        not_recorded(WORKERS, reason(error))


def hide() -> None:
    """Stops workers before their next batch."""
    with contextlib.suppress(OSError, Error):  # the link is gone with its folder, or was never made
        link().unlink()


def link() -> Path:
    return own_file("loader")


def parts() -> list[tuple[Any, str, Function]]:
    """Owner (module or class), name and replacement of each part to replace."""
    found = [(owner_of(part), part) for part in PARTS]
    return [(owner, part.name, part.ours) for owner, part in found if is_as_expected(owner, part) and needs_ours(owner, part)]


def owner_of(part: Part) -> Any:
    """The module or class; None if this PyTorch does not have it."""
    module, _, kind = part.owner.partition(":")
    try:
        owner = importlib.import_module(module)
    except ImportError:
        return None
    return getattr(owner, kind, None) if kind else owner


def is_as_expected(owner: Any, part: Part) -> bool:
    if owner is None or not hasattr(owner, part.name):
        return False
    present = getattr(owner, part.name)
    if present is part.ours:
        return True
    try:
        return set(part.takes) <= arguments_of(present)
    except (TypeError, ValueError):  # a C function without a signature
        return not part.takes


@functools.cache
def arguments_of(function: Any) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def needs_ours(owner: Any, part: Part) -> bool:
    """False if PyTorch itself makes a range of each ``__next__``, even while its own profiler is off."""
    step = getattr(owner, part.name)
    if part.ours is not marked_next or step is marked_next:
        return True
    names = getattr(getattr(step, "__code__", None), "co_names", ())
    return "record_function" not in names or any("enabled" in name for name in names)


def replace() -> None:
    for part in PARTS:
        if not is_as_expected(owner_of(part), part):
            arguments = f" with the arguments {', '.join(part.takes)}" if part.takes else ""
            not_recorded(part.shows, f"this PyTorch has no {part.owner.replace(':', '.')}.{part.name}{arguments}")
    for owner, name, ours in parts():
        present = getattr(owner, name)
        if present is not ours:
            originals[ours] = present
            setattr(owner, name, ours)


def undo_if_unused() -> None:
    if not users:
        undo()
        lacking.clear()


def undo() -> None:
    """Restores PyTorch's functions. A function that others put in the place of ours stays; ours then does nothing."""
    if not originals:
        return
    hide()
    os.environ.pop(VARIABLE, None)
    for owner, name, ours in parts():
        if getattr(owner, name) is ours:
            setattr(owner, name, originals[ours])


atexit.register(undo)
os.register_at_fork(after_in_child=users.clear)  # the parent's profilers are not on in a child


class Worker:
    """This process as a worker, and its current recording."""

    def __init__(self, told: dict[str, Any], number: int) -> None:
        self.link = str(told["link"])
        self.parent = int(told["parent"])
        self.sampled = bool(told["sampled"])
        self.flags = int(told["flags"]) | STACKS * self.sampled
        self.number = number
        self.epoch = 0
        self.fetch = Ranges("DataLoader.fetch")
        self.busy_before = 0
        """busy_ns() when the fetch began."""
        self.target: str | None = None
        self.recording: Recording | None = None

    def look(self) -> None:
        """Starts or stops recording as the parent's recording does."""
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
        self.recording = Recording(self.flags, path, MEGABYTES, sampled=self.sampled, worker_of=(self.parent, self.number))
        self.recording.start()

    def stop(self) -> None:
        if self.recording is not None:
            if self.sampled:
                name_lines(self.recording)
            self.recording.stop()
            self.recording = None

    def got(self, task: Any) -> None:
        self.look()
        if type(task).__name__ == "_ResumeIteration":
            self.epoch += 1
        elif isinstance(task, tuple) and len(task) == 2 and isinstance(task[0], int):
            self.fetch.begin()
            self.busy_before = busy_ns()
            _collect.flow(batch_id(os.getpid(), self.epoch, task[0]), True)

    def made(self) -> None:
        """A batch is made."""
        if self.fetch.range is not None:
            _collect.counter("DataLoader.fetch CPU ns", busy_ns() - self.busy_before)
        self.fetch.end()


def busy_ns() -> int:
    """The time that this thread was on a core or waited for one; its CPU time if the kernel does not tell of waits."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as file:
            ran, waited, _ = file.read().split()
        return int(ran) + int(waited)
    except (OSError, ValueError):
        return time.thread_time_ns()


def batch_id(worker: int, epoch: int, index: int) -> int:
    """The id of a batch: unique per process, although loaders count from 0 in each epoch."""
    return (worker & 0x3FFFFF) << 42 | (epoch & 0xFFF) << 30 | (index & 0x3FFFFFFF)


def worker_loop(*args: Any, **named: Any) -> Any:
    """Replaces PyTorch's worker loop. A spawned process finds it by its name."""
    from torch.utils.data._utils import worker as module

    _batches.in_worker = True
    original = originals.get(worker_loop, module._worker_loop)
    worker = None
    with Noted(WORKERS):
        given = inspect.signature(original).bind(*args, **named)
        worker = watched(given.arguments)
    if worker is None:
        return original(*args, **named)
    try:
        return original(*given.args, **given.kwargs)
    finally:
        with Noted(WORKERS):
            worker.stop()


def watched(given: dict[str, Any]) -> Worker | None:
    """Wraps the queues and ``collate_fn`` in a worker's arguments. If this worker is not to record: None, and no change."""
    if VARIABLE not in os.environ:
        return None
    told = json.loads(os.environ[VARIABLE])
    if told["parent"] == os.getpid() and INHERITED is not None:
        told = json.loads(INHERITED)
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid != told["parent"]:
        return None
    worker = Worker(told, int(given["worker_id"]))
    wrapped = {
        "index_queue": Source(given["index_queue"], worker.got, WORKERS),
        "data_queue": Sink(given["data_queue"], worker.made, WORKERS),
        "collate_fn": Collate(given["collate_fn"]),
    }
    outside = sys.modules.get("stepscope.profiler._outside")
    if outside is not None and outside.outside is not None:
        outside.outside.withdraw()
    _collect.python_stop()  # a forked process inherits its parent's hook
    with Noted(WORKERS):
        worker.look()
    given.update(wrapped)
    return worker


def pin_loop(*args: Any, **named: Any) -> Any:
    """Replaces the loop of the thread that copies batches into pinned memory."""
    original = originals[pin_loop]
    given = None
    with Noted(PINNING):
        bound = inspect.signature(original).bind(*args, **named)
        pins = Ranges("DataLoader.pin_memory")
        source = Source(bound.arguments["in_queue"], pins.begin, PINNING)
        bound.arguments["out_queue"] = Sink(bound.arguments["out_queue"], pins.end, PINNING)
        bound.arguments["in_queue"] = source
        given = bound
    return original(*args, **named) if given is None else original(*given.args, **given.kwargs)


class Tasks(dict[int, Any]):
    """An iterator's batches that were not taken yet. Remembers the index and worker of the last batch taken."""

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
    """Begins an epoch. An iterator that was made before the profiler was on is not followed."""
    before = vars(self).get("_task_info")
    done = originals[reset](self, *args, **named)
    with Noted(LINKS):
        if before is None or isinstance(before, Tasks):
            tasks = Tasks(self._task_info)
            tasks.epoch = 0 if before is None else before.epoch + 1
            self._task_info = tasks
    return done


def next_data(self: Any) -> Any:
    data = originals[next_data](self)
    with Noted(LINKS):
        tasks = self._task_info
        if isinstance(tasks, Tasks) and tasks.last is not None:
            index, worker = tasks.last
            _collect.flow(batch_id(self._workers[worker].pid, tasks.epoch, index), False)
    return data


def single_init(self: Any, *args: Any, **named: Any) -> None:
    originals[single_init](self, *args, **named)
    with Noted(COLLATING):
        fetcher = self._dataset_fetcher
        fetcher.collate_fn = Collate(fetcher.collate_fn)


def marked_next(self: Any) -> Any:
    with _collect.record_function(f"enumerate(DataLoader)#{type(self).__name__}.__next__"):
        return originals[marked_next](self)


DATALOADER = "torch.utils.data.dataloader"
PARTS = (
    Part("torch.utils.data._utils.worker", "_worker_loop", worker_loop, ("index_queue", "data_queue", "collate_fn", "worker_id"), WORKERS),
    Part("torch.utils.data._utils.pin_memory", "_pin_memory_loop", pin_loop, ("in_queue", "out_queue"), PINNING),
    Part(f"{DATALOADER}:_MultiProcessingDataLoaderIter", "_reset", reset, (), LINKS),
    Part(f"{DATALOADER}:_MultiProcessingDataLoaderIter", "_next_data", next_data, (), LINKS),
    Part(f"{DATALOADER}:_SingleProcessDataLoaderIter", "__init__", single_init, (), COLLATING),
    Part(f"{DATALOADER}:_BaseDataLoaderIter", "__next__", marked_next, (), WAITS),
)
