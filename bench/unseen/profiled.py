"""Runs a program under torch.profiler and writes its file: profiled.py TRACE PROGRAM [ARGS...].

The options are those of PyTorch's tutorials: shapes and stacks. As nobody profiles a whole run with stacks, the profiler is on for
two seconds only, from the eighth second on.
"""
import runpy
import signal
import sys
from pathlib import Path

from torch.profiler import ProfilerActivity, profile

WAIT_S, ON_S = 8, 2


class Window:
    """One window of torch.profiler, opened and closed by a timer between two instructions of the main thread."""

    def __init__(self, trace):
        self.trace = trace
        self.profiler = None

    def open(self):
        self.profiler = profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True)
        self.profiler.__enter__()

    def close(self):
        self.profiler.__exit__(None, None, None)
        self.profiler.export_chrome_trace(self.trace)

    def on_timer(self, *_):
        if self.profiler is None:
            self.open()
            signal.setitimer(signal.ITIMER_REAL, ON_S)
        else:
            self.close()


def main(trace, program, *args):
    sys.argv = [program, *args]
    sys.path.insert(0, str(Path(program).resolve().parent))
    window = Window(trace)
    signal.signal(signal.SIGALRM, window.on_timer)
    signal.setitimer(signal.ITIMER_REAL, WAIT_S)
    runpy.run_path(program, run_name="__main__")
    signal.setitimer(signal.ITIMER_REAL, 0)
    if window.profiler is None:
        sys.exit(f"{program} ended before second {WAIT_S}")
    if not Path(trace).exists():
        window.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
