"""What a snapshot's events and segments show, by plain replay: level, peak, growth, lift, and memory that cannot be used."""

import bisect
import collections


def place_key(frames):
    return tuple((f["name"], f["filename"], f["line"]) for f in frames or [])


def user_place(stack):
    """The innermost frame of the program's own files, or the whole stack where it has none."""
    return next((frame for frame in stack if frame[2] and "-packages/" not in frame[1]), stack)


class Window:
    """The events of one device that the file keeps; `starts` are the events at which steps start."""

    def __init__(self, events, segments, starts):
        self.events, self.segments = events, segments
        self.starts = [s for s in starts if 0 <= s < len(events)]
        self.lives = []  # (begin, end or None, bytes, stack)
        opened = {}
        for i, e in enumerate(events):
            if e["action"] == "alloc":
                opened[e["addr"]] = (i, e["size"], place_key(e["frames"]))
            elif e["action"] == "free_completed" and e["addr"] in opened:
                begin, size, stack = opened.pop(e["addr"])
                self.lives.append((begin, i, size, stack))
        self.lives += [(begin, None, size, stack) for begin, size, stack in opened.values()]
        end = sum(b["requested_size"] for s in segments for b in s["blocks"] if b["state"] != "inactive")
        change = {"alloc": 1, "free_completed": -1}
        self.levels = [end]
        for e in reversed(events):
            self.levels.append(self.levels[-1] - change.get(e["action"], 0) * e["size"])
        self.levels.reverse()  # levels[i] is before event i

    def peak(self):
        return max(self.levels)

    def rises(self):
        """By stack: how often its count of living allocations is higher at a step's start than ever before, where it never falls."""
        points = self.starts[1:] + [len(self.events)]
        change = collections.defaultdict(lambda: [0] * (len(points) + 1))
        for begin, end, _, stack in self.lives:
            change[stack][bisect.bisect_left(points, begin + 1)] += 1
            if end is not None:
                change[stack][bisect.bisect_left(points, end + 1)] -= 1
        found = {}
        for stack, steps in change.items():
            steps = steps[: len(points) - 1]
            if all(s >= 0 for s in steps):
                found[stack] = [i for i, s in enumerate(steps) if s > 0]
        return found

    def lift(self, longest):
        """The most that short-lived allocations of one place lift the peak: (share of the peak without them, place)."""
        peak = self.peak()
        by_place = collections.defaultdict(list)
        for begin, end, size, stack in self.lives:
            if end is not None and end - begin <= longest:
                by_place[user_place(stack)].append((begin, end, size))
        best = (0.0, None)
        for place, lives in by_place.items():
            if max(size for _, _, size in lives) < peak / 25:
                continue
            levels = list(self.levels)
            for begin, end, size in lives:
                for i in range(begin + 1, end + 1):
                    levels[i] -= size
            best = max(best, (peak / max(levels) - 1, place), key=lambda found: found[0])
        return best

    def short(self):
        """Events of a thirtieth of a step, within which a short-lived allocation is freed."""
        return max(8, len(self.events) // max(1, len(self.starts)) // 30)

    def segments_by_step(self):
        """Per complete step: bytes of segments made, bytes given back."""
        sizes = []
        for begin, end in zip(self.starts, self.starts[1:]):
            of = collections.Counter()
            for e in self.events[begin:end]:
                of[e["action"]] += e["size"]
            sizes.append((of["segment_alloc"] + of["segment_map"], of["segment_free"] + of["segment_unmap"]))
        return sizes

    def reserved_peak(self):
        sign = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
        reserved = most = sum(s["total_size"] for s in self.segments)
        for e in reversed(self.events):
            reserved -= sign.get(e["action"], 0) * e["size"]
            most = max(most, reserved)
        return most

    def free_cached(self, stream):
        """Free bytes in the segments of a stream, and the largest free block."""
        free = [b["size"] for s in self.segments if s["stream"] == stream for b in s["blocks"] if b["state"] == "inactive"]
        return sum(free), max(free, default=0)

    def oom(self):
        return next((e for e in reversed(self.events) if e["action"] == "oom"), None)
