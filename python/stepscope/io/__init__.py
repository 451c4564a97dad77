"""Annotations with the shapes of DFTracer's, recorded by stepscope.

    from stepscope.io import ai, dft_fn, finalize, initialize_log      # instead of: from dftracer.python import …

Ranges go into the recording that runs: of `stepscope record`, of stepscope.profiler, or of initialize_log(). Their args are kept, and
their category is the arg ``cat``. Without a recording, nothing is written.

    log = initialize_log("run")                # run-PID.stepscope
    ...
    log.finalize()

What differs from DFTracer, on purpose: a call that raises has its range; a coroutine's range lasts until it returns; a generator has a
range per item; calls in several threads or in recursion do not share args; no signal handler is installed.
"""

from stepscope.io._ai import DFTracerAI, Node, ai
from stepscope.io._dft import dft_fn
from stepscope.io._log import Logger, finalize, get_time, initialize_log

__all__ = ["DFTracerAI", "Logger", "Node", "ai", "dft_fn", "finalize", "get_time", "initialize_log"]
