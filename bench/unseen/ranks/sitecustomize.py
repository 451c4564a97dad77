"""Opens a window of torch.profiler in each rank that a profiled program spawns. profiled.py puts this folder on their path."""
import os
import sys

if "--multiprocessing-fork" in sys.argv:
    sys.path.insert(0, os.environ["PROFILED_FROM"])
    import profiled

    profiled.in_rank(os.environ["PROFILED_INTO"])
