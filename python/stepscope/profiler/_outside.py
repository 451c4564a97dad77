"""Recording for `stepscope record`, `run` and `attach`, in a program that does not use stepscope itself.

It begins when PyTorch has been imported, or later, when `attach` reaches a running program. A step ends with each step() of the first optimizer that makes a step. Nothing here may
end or change the program: errors are printed, and the program continues.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import multiprocessing.util
import os
import socket
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from stepscope import _collect
from stepscope._errors import Error
from stepscope.profiler._dataloader import follow, unfollow
from stepscope.profiler._gradients import Training
from stepscope.profiler._memory_history import MemoryHistory
from stepscope.profiler._observer import begin_to_compile, ready
from stepscope.profiler._optimizers import watch_optimizers, watch_present_optimizers
from stepscope.profiler._replace import ASKED, replace_torch_profiler

Options = dict[str, str]
STACKS: dict[str, bool | Literal["sampled"]] = {"calls": True, "sampled": "sampled"}
"""``with_stack`` for each word of the option stacks; False for others."""

LONGEST_COMMAND = 200
MOST_CHILDREN = 64
"""Forked children of a process that are recorded; a program may fork for each request."""
ELSEWHERE = ("torch/utils/data/dataloader.py", "/subprocess.py", "/os.py", "<frozen os>", "/pty.py")
"""Files whose children are not recorded here: loaders' workers record themselves, and the others run another program."""
children = 0
"""How often this process has forked, with those of its parents."""
prepared = False
outside: Outside | None = None
inherited: Outside | None = None
"""The parent's. Its end in a child, where Python 3.14 forgets exit handlers, would undo what a loader's worker needs."""


def begin(torch: Any) -> None:
    """Called by the sitecustomize of `stepscope record` and `run`, once per process."""
    try:
        options = json.loads(os.environ["STEPSCOPE_RECORD"])
        if os.environ.get(ASKED) == "1":
            replace_torch_profiler()
        prepare(torch, options)
        watch(options)
    except Exception as error:  # must not end the program
        complain(error)


def begin_late(torch: Any) -> Path:
    """Called by the script of `stepscope attach`, in a running program: listens, and returns the path of the socket."""
    from stepscope.profiler._control import listen

    options = {"wait": "1"}
    if not prepared:
        prepare(torch, options)
        watch_present_optimizers(torch, after_optimizer)
    if outside is None or outside.pid != os.getpid():
        watch(options)
    assert outside is not None
    return listen(outside)


def prepare(torch: Any, options: Options) -> None:
    """What a process does once, and its forked children inherit."""
    global prepared
    prepared = True
    watch_optimizers(torch, after_optimizer)
    os.register_at_fork(before=expect_child, after_in_child=lambda: record_child(options))
    multiprocessing.util.register_after_fork(multiprocessing.util, lambda _: stop_at_end_of_child())


def after_optimizer(optimizer: Any) -> None:
    if outside is not None:
        outside.after_optimizer(optimizer)


def watch(options: Options) -> None:
    """Records this process, or lets it wait for `attach`."""
    global outside
    outside = Outside()
    atexit.register(outside.stop)
    if "wait" in options:
        from stepscope.profiler._control import listen

        have_observer()
        listen(outside)
    else:
        outside.ask(options)


def expect_child() -> None:
    """Called in the parent before it forks."""
    global children
    children += 1


def record_child(options: Options) -> None:
    """Called in a forked child, which is recorded as its parent is."""
    global outside, inherited
    inherited = outside
    if outside is None or children > MOST_CHILDREN or is_forked_from(ELSEWHERE):
        outside = None
        return
    try:
        watch(options)
    except Exception as error:  # must not end the program
        complain(error)


def stop_at_end_of_child() -> None:
    """Called in a child of multiprocessing, which ends without Python's exit handlers."""
    if outside is not None:
        multiprocessing.util.Finalize(None, outside.stop, exitpriority=-100)


def is_forked_from(files: tuple[str, ...]) -> bool:
    frame: FrameType | None = sys._getframe()
    while frame is not None and not frame.f_code.co_filename.endswith(files):
        frame = frame.f_back
    return frame is not None


def have_observer() -> None:
    """Has it compiled before the first `stepscope attach`, which says what went wrong."""
    torch = sys.modules["torch"]
    with contextlib.suppress(Error):
        if ready(torch) is None:
            begin_to_compile(torch)


def complain(error: Exception) -> None:
    say(f"{error or type(error).__name__}; this process is not recorded")


def say(what: str) -> None:
    print(f"stepscope: {what}", file=sys.stderr, flush=True)


def command() -> str:
    """What this process runs, without the interpreter: "train.py --epochs 3"."""
    module = getattr(getattr(sys.modules.get("__main__"), "__spec__", None), "name", "").removesuffix(".__main__")
    words = [f"-m {module}" if module else os.path.basename(sys.argv[0]), *sys.argv[1:]]
    return " ".join(words)[:LONGEST_COMMAND]


class Asked:
    """A request to record this process from step ``first`` up to, not including, ``end``."""

    def __init__(self, options: Options, step: int) -> None:
        """``steps`` is FIRST:END, or the number of steps to record from the next step on; without it, everything."""
        self.by_steps = "steps" in options
        first, colon, end = options.get("steps", "0:").partition(":")
        self.first = int(first) if colon else step + 1
        self.end = (int(end) if end else -1) if colon else self.first + int(first)
        self.path = place(Path(options["folder"]))
        self.begun = False
        self.history = memory_history(self.path) if "memory_history" in options else None
        self.told = False
        """Whether the gradients were looked at."""
        self.training: Training | None = None
        """What was seen then, until the next step."""
        self.over = threading.Event()
        self.error: Exception | None = None


class Outside:
    """The recording of this process, requested by another process.

    A step ends with the optimizer's step(). Step 0 begins with the program and is marked only if it was requested by
    number.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.lock = threading.RLock()
        self.step = 0
        self.stepper: Any = None
        self.asked: Asked | None = None
        self.recording = self.in_step = False
        self.profile: Any = None

    def ask(self, options: Options) -> Asked:
        """Prepares a recording."""
        with self.lock:
            if self.asked is not None:
                raise Error("is already being recorded; wait until that recording ends")
            from stepscope.profiler import profile
            from stepscope.profiler._recording import SHAPES_WHILE_CHEAP

            asked = Asked(options, self.step)
            self.profile = profile(
                record_shapes=options.get("shapes", "none") != "none",
                profile_memory="memory" in options,
                with_stack=STACKS.get(options.get("stacks", ""), False),
                path=asked.path,
                megabytes=int(options.get("megabytes", 256)),
                keep="newest" if options.get("keep") == "newest" else "oldest",
            )
            self.profile._gives_way = self.profile._with_collections = True
            self.profile._flags |= SHAPES_WHILE_CHEAP * (options.get("shapes") == "cheap")
            self.profile.preset_metadata_json("command", json.dumps(command()))
            if not asked.by_steps:
                self.profile.preset_metadata_json("wholeProgram", "true")
            self.asked = asked
            follow(self.profile, self.profile._flags)
            if not asked.by_steps or asked.first == self.step:
                try:
                    self.start(asked)
                except BaseException:
                    self.stop()
                    raise
                if asked.by_steps:
                    self.begin_step()
            return asked

    def start(self, asked: Asked) -> None:
        self.tell_history(asked, "start")
        self.profile.start()
        self.recording = asked.begun = True

    def begin_step(self) -> None:
        _collect.range_begin(f"ProfilerStep#{self.step}")
        self.in_step = True

    def end_step(self) -> None:
        if self.in_step:
            _collect.range_end()
        self.in_step = False

    def stop(self, only: Asked | None = None) -> None:
        """Ends the request, begun or not. With ``only``, does nothing if that request was already replaced by another.

        A step that has not ended is not counted.
        """
        with self.lock:
            asked = self.asked
            if asked is None or os.getpid() != self.pid or only not in (None, asked):
                return
            self.asked = None
            self.tell_history(asked, "stop")
            try:
                if self.recording:
                    self.recording = self.in_step = False
                    if self.gave_way():
                        say(f"the program started its own profiler; the recording up to then is in {asked.path}")
                    else:
                        self.tell_training(asked, complete=False)
                        self.profile.stop()
            except Exception as error:
                asked.error = error
                raise
            finally:
                unfollow(self.profile)
                self.profile = None
                asked.over.set()

    def tell_training(self, asked: Asked, complete: bool) -> None:
        if asked.training is not None:
            asked.training.tell(self.profile._on, complete)
            asked.training = None

    def tell_history(self, asked: Asked, what: Literal["start", "step", "stop"]) -> None:
        """The recording goes on without a history that fails."""
        if (history := asked.history) is None:
            return
        try:
            getattr(history, what)()
        except Exception as error:
            asked.history = None
            say(f"the memory history ends: {error or type(error).__name__}")

    def gave_way(self) -> bool:
        return self.profile._on is not None and not self.profile._on.is_open

    def withdraw(self) -> None:
        """Drops this process's own recording: it is a data loader's worker and is recorded beside its parent."""
        asked = self.asked
        if os.getpid() == self.pid and asked is not None:
            self.stop()
            asked.path.unlink(missing_ok=True)

    def after_optimizer(self, optimizer: Any) -> None:
        """Called after an optimizer's step; only the first optimizer counts."""
        if os.getpid() != self.pid:
            return
        if self.stepper is None:
            self.stepper = optimizer
        if optimizer is not self.stepper:
            if (asked := self.asked) is not None and (training := asked.training) is not None:
                training.after(optimizer)
            return
        with self.lock:
            self.step += 1
            if (asked := self.asked) is None:
                return
            try:
                self.next_step(asked)
            except Exception as error:
                asked.error = error
                complain(error)
                self.recording = self.in_step = False
                self.stop(asked)

    def next_step(self, asked: Asked) -> None:
        if self.recording and self.gave_way():
            self.stop()
            return
        self.end_step()
        self.tell_history(asked, "step")
        self.tell_training(asked, complete=True)
        if self.step == asked.end:
            self.stop()
            return
        if self.step == asked.first and not self.recording:
            self.start(asked)
        if self.recording:
            if not asked.told:
                asked.told = True
                self.profile.tell_job()
                asked.training = Training(sys.modules["torch"], self.stepper)  # before the first marked step
            self.begin_step()


def memory_history(path: Path) -> MemoryHistory | None:
    """The history of the device's allocator beside the recording ``path``; None, which is said, if no device keeps one."""
    try:
        return MemoryHistory(path.parent, name=path.stem)
    except Error as error:
        say(f"no memory history: {error}")
        return None


def place(folder: Path) -> Path:
    """The path of this process's recording."""
    rank = os.environ.get("RANK") or os.environ.get("SLURM_PROCID")
    name = f"{socket.gethostname()}_{os.getpid()}"
    return folder / (f"rank{rank}.{name}.stepscope" if rank else f"{name}.stepscope")
