"""Triton kernels that a program launches by itself: each launch is an op, with the kernel's arguments, grid and options.

Kernels that Inductor makes have ranges of PyTorch's own, and are left to those.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from stepscope import _collect

OPTIONS = ("num_warps", "num_stages", "num_ctas", "shared")
"""What is recorded of a kernel's metadata; ``shared``: bytes of shared memory per block."""

open_launch = threading.local()
"""``range``: of the thread's launch that has begun."""
undo: list[Callable[[], None]] = []
"""What ends watching."""


def tell_triton(recording: bool) -> None:
    """Begins or ends watching launches. Triton must be imported by then: it is not imported here."""
    if not recording:
        while undo:
            undo.pop()()
    elif not undo:
        kernel = getattr(sys.modules.get("triton.compiler.compiler"), "CompiledKernel", None)
        if hasattr(kernel, "launch_metadata"):
            watch(kernel)


def watch(kernel: Any) -> None:
    hooks = getattr(sys.modules.get("triton.knobs"), "runtime", kernel)  # the class itself before Triton 3.4
    if not hasattr(hooks, "launch_exit_hook"):
        return
    call_at_end(hooks)
    before = kernel.launch_metadata

    def launch_metadata(self: Any, grid: Any, stream: Any, *args: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__", "").startswith("triton."):
            begin(self, grid, stream, args)
        return before(self, grid, stream, *args)

    kernel.launch_metadata = launch_metadata
    undo.append(lambda: setattr(kernel, "launch_metadata", before))


def call_at_end(hooks: Any) -> None:
    """Has end() called after each launch, beside the hooks of other tools."""
    before = hooks.launch_exit_hook
    if hasattr(before, "add") and hasattr(before, "remove"):
        before.add(end)
        undo.append(lambda: before.remove(end))
        return

    def both(*given: Any) -> None:
        end()
        if before is not None:
            before(*given)

    hooks.launch_exit_hook = both
    undo.append(lambda: setattr(hooks, "launch_exit_hook", before))


def begin(kernel: Any, grid: Any, stream: Any, args: tuple[Any, ...]) -> None:
    """A launch that failed before has no end, and is forgotten."""
    options = {name: getattr(kernel.metadata, name) for name in OPTIONS if hasattr(kernel.metadata, name)}
    told = {"kernel_backend": "triton", "grid": [*grid, 1, 1][:3], "stream": stream, **options}
    open_launch.range = _collect.record_function(kernel.name).as_op(args, told)
    open_launch.range.__enter__()


def end(*_: Any) -> None:
    begun = getattr(open_launch, "range", None)
    open_launch.range = None
    if begun is not None:
        begun.__exit__(None, None, None)
