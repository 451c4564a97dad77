"""Records what a PyTorch program does; replaces ``torch.profiler``."""

from stepscope.profiler._profile import profile, record_function
from stepscope.profiler._schedule import ProfilerAction, schedule

__all__ = ["ProfilerAction", "profile", "record_function", "schedule"]
