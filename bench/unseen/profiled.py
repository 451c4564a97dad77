"""Runs a program under torch.profiler as it comes, without steps, and writes its file: profiled.py TRACE PROGRAM [ARGS...]."""
import runpy
import sys
from pathlib import Path

from torch.profiler import ProfilerActivity, profile


def main(trace, program, *args):
    sys.argv = [program, *args]
    sys.path.insert(0, str(Path(program).resolve().parent))
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        runpy.run_path(program, run_name="__main__")
    profiler.export_chrome_trace(trace)


if __name__ == "__main__":
    main(*sys.argv[1:])
