"""A fake of ``torch.cuda.memory``: it keeps the events that a program plays, and writes them as PyTorch does."""

import pickle
import sys
import time
from pathlib import Path

MIB = 1 << 20


class FakeAllocator:
    """Hands out addresses of one segment, keeps the events that PyTorch would, and writes them as PyTorch does."""

    CAPACITY = 64 * MIB

    def __init__(self):
        self.events, self.held, self.history, self.observers = [], {}, None, []
        self.next, self.peak, self.cleared = 1 << 40, 0, 0

    # What PyTorch has.
    def _record_memory_history(self, enabled="all", stacks="all", max_entries=0):
        self.history = None if enabled is None else (stacks, max_entries)

    def _dump_snapshot(self, filename):
        blocks = [{"address": a, "size": n, "requested_size": n, "state": "active_allocated", "frames": []} for a, n in sorted(self.held.items())]
        segments = [
            {"device": 0, "address": block["address"], "total_size": block["size"], "allocated_size": block["size"], "active_size": block["size"],
             "requested_size": block["size"], "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
             "blocks": [block]}
            for block in blocks
        ]  # fmt: skip
        Path(filename).write_bytes(pickle.dumps({"segments": segments, "device_traces": [list(self.events)]}))

    def max_memory_allocated(self):
        return self.peak

    def reset_peak_memory_stats(self):
        self.cleared += 1
        self.peak = sum(self.held.values())

    # What the program of the test calls.
    def event(self, action, size, **more):
        frame = sys._getframe(2)
        frames = [{"name": frame.f_code.co_name, "filename": frame.f_code.co_filename, "line": frame.f_lineno}]
        if self.history is not None:
            self.events.append({"action": action, "size": size, "stream": 0, "time_us": time.time_ns() // 1000, "frames": frames, **more})

    def alloc(self, size):
        used = sum(self.held.values())
        if used + size > self.CAPACITY:
            self.event("oom", size, device_free=self.CAPACITY - used)
            for observer in self.observers:
                observer(0, size, used, self.CAPACITY - used)
            raise MemoryError(size)
        address, self.next = self.next, self.next + size
        self.held[address] = size
        self.peak = max(self.peak, used + size)
        self.event("segment_alloc", size, addr=address)
        self.event("alloc", size, addr=address)
        return address

    def free(self, address):
        size = self.held.pop(address)
        for action in ("free_requested", "free_completed", "segment_free"):
            self.event(action, size, addr=address)
