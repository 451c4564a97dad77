"""Inside the program and its copies: finds the ends of steps, notes times and losses, and waits there for its turn.

Nothing here may end or change the program: if something fails, it is printed and the copy goes on alone.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
import weakref
from typing import Any

from stepscope.profiler._optimizers import watch_optimizers
from stepscope.trial import _processes
from stepscope.trial._calls import Calls

FIRST, END = 3, 18
"""The steps of the program that are recorded."""
HOLD = END + 2
"""The step at whose end the program is held. Other ranks have then ended their recordings too."""
LONGEST_S = 60
"""A recording that lasts longer ends earlier."""
CALLS = 8
"""A module that was called this often ends steps, if the program has no optimizer,"""
PATIENT_CALLS = 200
"""or if it has one that makes no step."""
NUDGE = 2.0**-22
"""In a copy that shows how far rounding alone drives runs apart: each gradient is larger by this share."""
copy: Copy | None = None


def begin(torch: Any) -> None:
    """Called by the sitecustomize, once per process that imports PyTorch."""
    global copy
    try:
        copy = Copy(torch, json.loads(os.environ["STEPSCOPE_TRIAL"]))
        copy.begin()
    except Exception as error:  # must not end the program
        say(error)


def say(error: Exception) -> None:
    print(f"stepscope: {error or type(error).__name__}; this process takes no part in the trial", file=sys.stderr, flush=True)


class Copy:
    def __init__(self, torch: Any, told: dict[str, Any]) -> None:
        self.torch = torch
        self.told = told
        self.pid = os.getpid()
        self.is_base = bool(told.get("record"))
        self.by: str = told.get("by", "")
        self.module: int = told.get("module", -1)
        self.is_other_rank = os.environ.get("RANK", "0") not in ("", "0")
        self.is_passive = self.is_other_rank
        self.channel: socket.socket | None = None
        self.lines: Any = None
        self.step = 0
        self.left = 0
        """Steps until the copy waits; 0: it never waits again."""
        self.since = self.begun = 0
        self.times: list[int] = []
        self.losses: dict[int, list[Any]] = {}
        self.written: set[str] = set()
        self.errors: list[str] = []
        self.calls = Calls(torch)
        self.counts: dict[int, int] = {}
        self.optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self.has_optimizer = False
        self.stepper: Any = None
        self.outside: Any = None
        self.facts: Any = None
        self.loading: Any = None
        """Of `stepscope tune`: applies settings of a DataLoader, and notes what its loop waits for."""

    def begin(self) -> None:
        if os.getppid() == self.told.get("conductor"):
            _processes.when_parent_dies(signal.SIGCONT if self.is_base else signal.SIGKILL)
        if self.is_base:
            self.begin_recording()
        else:
            self.seed()
            self.watch_files()
            self.move_port()
        watch_optimizers(self.torch, self.after_optimizer)
        self.watch_made()
        self.watch_losses()
        self.calls.after.append(self.after_call)
        for name in self.told.get("changes", ()):
            self.apply(name)
        if "loader" in self.told:
            from stepscope.tune._inside import Loading

            self.loading = Loading(self.torch, self.told["loader"])
        if self.by != "optimizer" or self.told.get("calls"):
            self.calls.install()
        os.register_at_fork(after_in_child=self.leave)

    def apply(self, name: str) -> None:
        from stepscope.trial import changes

        try:
            changes.named(name).apply(changes.Target(self.torch, self.calls, self.told.get("program", {})))
        except Exception as error:
            self.errors.append(f"{type(error).__name__}: {error}")

    def begin_recording(self) -> None:
        from stepscope.trial._facts import Facts

        self.facts = Facts(self.torch)
        self.calls.first.append(self.facts.look_at)
        try:
            from stepscope.profiler._outside import Outside

            self.outside = Outside()
            self.outside.ask({"folder": self.told["record"], "steps": f"{FIRST}:{END}", "stacks": "sampled", "shapes": "all"})
        except Exception as error:  # the trials go on without findings
            self.outside = None
            self.errors.append(f"the program cannot be recorded: {error}")

    def seed(self) -> None:
        seed = int(os.environ.get("STEPSCOPE_TRIAL_SEED", "0")) + int(os.environ.get("RANK") or 0)
        self.torch.manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)

    def watch_files(self) -> None:
        """Notes what this copy opens for writing: the program writes the same files."""
        flags = os.O_WRONLY | os.O_RDWR

        def heard(event: str, given: tuple[Any, ...]) -> None:
            if event == "open" and isinstance(given[0], str) and len(self.written) < 1000:
                mode = given[1] if isinstance(given[1], str) else ""
                is_flagged = isinstance(given[2], int) and given[2] & flags
                if is_flagged or any(letter in mode for letter in "wax+"):
                    self.written.add(os.path.abspath(given[0]))

        sys.addaudithook(heard)

    def move_port(self) -> None:
        """Lets a process group of this copy meet at a port of its own, whatever the program's code says."""
        distributed = self.torch.distributed
        if not distributed.is_available() or "TORCHELASTIC_RUN_ID" in os.environ:
            return
        port, original = self.told.get("port"), distributed.init_process_group

        def moved(*args: Any, **named: Any) -> Any:
            if "MASTER_PORT" in os.environ:
                os.environ["MASTER_PORT"] = str(port)
            method = named.get("init_method")
            if isinstance(method, str) and method.startswith("tcp://"):
                named["init_method"] = method.rpartition(":")[0] + f":{port}"
            return original(*args, **named)

        distributed.init_process_group = moved

    def watch_made(self) -> None:
        optimizer, copy = self.torch.optim.Optimizer, self
        make = optimizer.__init__

        def made(this: Any, *args: Any, **named: Any) -> None:
            copy.has_optimizer = True
            make(this, *args, **named)

        optimizer.__init__ = made

    def watch_losses(self) -> None:
        autograd = self.torch.autograd
        backward = autograd.backward
        main, tensor = threading.main_thread().ident, self.torch.Tensor

        is_nudged = bool(self.told.get("nudged"))

        def noted(tensors: Any, *args: Any, **named: Any) -> Any:
            if is_nudged and isinstance(tensors, tensor) and (not args or args[0] is None) and named.get("grad_tensors") is None:
                args = (self.torch.full_like(tensors, 1 + NUDGE), *args[1:])
                named.pop("grad_tensors", None)
            if self.left > 0 and isinstance(tensors, tensor) and tensors.numel() == 1 and threading.get_ident() == main:
                self.losses.setdefault(self.step, []).append(tensors.detach().clone())
            return backward(tensors, *args, **named)

        self.left = 1  # losses before the first border count
        autograd.backward = noted

    def after_optimizer(self, optimizer: Any) -> None:
        if os.getpid() != self.pid:
            return
        if self.outside is not None:
            self.outside.after_optimizer(optimizer)
        if self.by == "":
            self.by = "optimizer"
            if not self.told.get("calls") and not self.is_base:
                self.calls.remove()
        if self.by != "optimizer":
            return
        if self.stepper is None:
            self.stepper = weakref.ref(optimizer)
        if self.stepper() is optimizer:
            self.border()

    def after_call(self, number: int) -> None:
        if self.by == "":
            self.counts[number] = self.counts.get(number, 0) + 1
            if self.counts[number] < (PATIENT_CALLS if self.has_optimizer else CALLS):
                return
            self.by, self.module = "forward", number
        if self.by == "forward" and number == self.module:
            self.border()

    def border(self) -> None:
        """The end of a step."""
        if self.is_base and self.is_other_rank and os.getpid() == self.pid:
            self.step += 1
            if self.step == HOLD:
                self.wait_as_other_rank()
        if self.is_passive or self.left == 0 or os.getpid() != self.pid:
            return
        try:
            cuda = self.torch.cuda
            if cuda.is_initialized():
                cuda.synchronize()
            now = time.perf_counter_ns()
            self.step += 1
            if self.by == "forward":
                self.note_output()
            if self.loading is not None:
                self.loading.border()
            if self.channel is None:
                self.begun = now
                self.hello()
                return
            self.times.append(now - self.since)
            if self.is_base:
                self.record(now)
            self.left -= 1
            if self.left > 0:
                self.since = time.perf_counter_ns() if self.by == "forward" else now
                return
            self.report()
            self.wait()
        except Exception as error:
            self.leave()
            say(error)

    def note_output(self) -> None:
        """Where no optimizer works, the size of the model's output takes the place of a loss. It is not part of the step's time."""
        output = first_tensor(self.calls.result, self.torch.Tensor)
        if output is not None and output.numel() > 0:
            self.losses[self.step] = [output.detach().float().abs().mean()]

    def record(self, now: int) -> None:
        """Begins and ends the recording where no optimizer's step does; ends it early if steps are long."""
        outside = self.outside
        if outside is not None and self.by == "forward" and self.step == FIRST and outside.asked is not None:
            outside.start(outside.asked)
        is_late = now - self.begun > LONGEST_S * 1e9 and self.step > FIRST + 1
        if outside is not None and (is_late or (self.by == "forward" and self.step == END)):
            outside.stop()
        if is_late:
            self.left = 1

    def hello(self) -> None:
        self.channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.channel.connect(self.told["socket"])
        self.lines = self.channel.makefile("rb")
        what: dict[str, Any] = {"hello": self.told["copy"], "errors": self.errors}
        if self.facts is not None:
            what["program"] = self.facts.told(self)
        self.tell(what)
        self.wait()

    def wait_as_other_rank(self) -> None:
        """Beside rank 0, so that no collective waits meanwhile: backends end a job whose collectives wait for minutes."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
                channel.connect(self.told["socket"])
                channel.sendall(json.dumps({"hello": self.told["copy"], "rank": os.environ["RANK"]}).encode() + b"\n")
                channel.recv(100)
        except OSError:
            pass  # the trials are over

    def tell(self, what: dict[str, Any]) -> None:
        assert self.channel is not None
        self.channel.sendall(json.dumps(what).encode() + b"\n")

    def report(self) -> None:
        from stepscope.trial import changes

        what: dict[str, Any] = {"step": self.step, "times": self.times, "losses": self.values(), "effects": list(changes.effects)}
        what["written"], what["errors"] = sorted(self.written), self.errors
        cuda = self.torch.cuda
        what["device_memory"] = cuda.max_memory_allocated() if cuda.is_initialized() else 0
        if self.facts is not None:
            what["program"] = self.facts.told(self)
        if self.loading is not None:
            what["by"], what["module"] = self.by, self.module
            what["loader"] = self.loading.told()
        self.times, self.losses = [], {}
        self.tell(what)

    def values(self) -> list[tuple[int, float]]:
        found = []
        for step, losses in self.losses.items():
            try:
                found.append((step, sum(float(one) for one in losses)))
            except (RuntimeError, TypeError, ValueError):
                continue
        return found

    def wait(self) -> None:
        line = self.lines.readline()
        told = json.loads(line) if line else {"go": 0}
        if not line and self.is_base:  # the conductor died
            _processes.proceed(self.pid, self.told["copy"])
        self.left = int(told.get("go", 0))
        if self.left == 0:
            self.leave()
        self.since = time.perf_counter_ns()

    def leave(self) -> None:
        """Takes no part any more, e.g. in a forked child."""
        self.left = 0
        self.is_passive = True
        if self.channel is not None:
            self.lines.close()
            self.channel.close()
            self.channel = None
        if self.by != "forward" and not self.told.get("calls"):
            self.calls.remove()


def first_tensor(value: Any, tensor: Any) -> Any:
    if isinstance(value, tensor):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return next((found for part in parts if (found := first_tensor(part, tensor)) is not None), None)
