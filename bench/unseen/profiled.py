"""Runs a program under torch.profiler and writes its file: profiled.py TRACE.json PROGRAM [ARGS...].

The options are those of PyTorch's tutorials: shapes and stacks. As nobody profiles a whole run with stacks, the profiler is on for
two seconds only, from the eighth second on. Ranks that the program spawns are profiled instead of it, into the folder TRACE.
"""
import os
import runpy
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WAIT_S, ON_S = 8, 2


class Window:
    """One window of torch.profiler, opened and closed by a timer between two instructions of the main thread."""

    def __init__(self, trace):
        self.trace = trace
        self.profiler = None
        signal.signal(signal.SIGALRM, self.on_timer)
        signal.setitimer(signal.ITIMER_REAL, WAIT_S)

    def open(self):
        from torch.profiler import ProfilerActivity, profile

        self.profiler = profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True)
        self.profiler.__enter__()

    def close(self):
        self.profiler.__exit__(None, None, None)
        self.profiler.export_chrome_trace(str(self.trace))

    def on_timer(self, *_):
        if self.profiler is not None:
            self.close()
            return
        self.open()
        if self.profiler is not None:
            signal.setitimer(signal.ITIMER_REAL, ON_S)


class RankWindow(Window):
    """That of a spawned process, if it is a rank."""

    def __init__(self, folder):
        super().__init__(None)
        self.folder = Path(folder)

    def open(self):
        import torch.distributed as dist

        if not dist.is_initialized():
            return
        self.folder.mkdir(exist_ok=True)
        self.trace = self.folder / f"rank{dist.get_rank()}.json"
        super().open()


def in_rank(folder):
    RankWindow(folder)


def main(trace, program, *args):
    sys.argv = [program, *args]
    sys.path.insert(0, str(Path(program).resolve().parent))
    ranks = Path(trace).with_suffix("")
    os.environ.update(PYTHONPATH=f"{HERE / 'ranks'}:{os.environ.get('PYTHONPATH', '')}", PROFILED_FROM=str(HERE), PROFILED_INTO=str(ranks))
    window = Window(trace)
    runpy.run_path(program, run_name="__main__")
    signal.setitimer(signal.ITIMER_REAL, 0)
    if ranks.exists():
        Path(trace).unlink(missing_ok=True)
        return
    if window.profiler is None:
        sys.exit(f"{program} ended before second {WAIT_S}")
    if not Path(trace).exists():
        window.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
