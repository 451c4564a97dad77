"""The traces that are measured, made once and kept outside the tree."""
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
SCALE = SHARED / "tools" / "scale_trace.py"
GZIP_LEVEL = 6


@dataclass(frozen=True)
class Source:
    """A trace from which large ones are made: by copies in time, or by simulation if the recorded one is absent."""

    key: str
    title: str
    recorded: Path
    simulated: tuple

    @property
    def is_recorded(self):
        return self.recorded.is_file() and SCALE.is_file()


SOURCES = (
    Source("plain_ops", "no Python stacks", SHARED / "traces/v100_memory_events/rank1.json.gz",
           ("--shapes", "--memory")),
    Source("stacks", "Python stacks", SHARED / "traces/mi300_resnet_checkpointing/trace.json.gz",
           ("--shapes", "--memory", "--stacks")),
)


@dataclass(frozen=True)
class Input:
    """A trace on the disk. `events` is the length of traceEvents as counted by the program that wrote it."""

    path: Path
    bytes: int
    events: int
    made_by: str
    text_bytes: int = 0  # size of the text if the file is gzip

    @property
    def name(self):
        return self.path.name


class Store:
    """Makes inputs in `folder`, or finds them there. File names contain a digest of everything they were made from."""

    def __init__(self, folder, make_trace, say):
        self.folder = Path(folder)
        self.make_trace = make_trace
        self.say = say
        self.folder.mkdir(parents=True, exist_ok=True)
        self.units = {}

    def unit(self, source):
        """(bytes, events) of one copy, or of the simulation's smallest unit; sizes are computed from it."""
        if source.key not in self.units:
            one = self.copies(source, 1) if source.is_recorded else self.simulation(source, 50_000)
            self.units[source.key] = (one.bytes, one.events)
        return self.units[source.key]

    def of_size(self, source, wanted_bytes):
        """The trace of whole copies nearest to `wanted_bytes`."""
        unit_bytes, unit_events = self.unit(source)
        if source.is_recorded:
            return self.copies(source, max(1, round(wanted_bytes / unit_bytes)))
        return self.simulation(source, max(1000, round(wanted_bytes / unit_bytes * unit_events)))

    def of_events(self, source, wanted):
        """The smallest trace of whole copies with at least `wanted` events."""
        _, unit_events = self.unit(source)
        if source.is_recorded:
            return self.copies(source, -(-wanted // unit_events))
        return self.simulation(source, wanted + wanted // 50)

    def copies(self, source, count):
        stamp = digest(SCALE, source.recorded)
        path = self.folder / f"{source.recorded.parent.name}-x{count}-{stamp}.json"
        made_by = (f"python3 ../shared/tools/scale_trace.py {os.path.relpath(source.recorded, ROOT)} {count} "
                   f"{path.name}")
        return self.kept(path, made_by, [sys.executable, str(SCALE), str(source.recorded), str(count)])

    def simulation(self, source, events):
        stamp = digest(Path(self.make_trace))
        path = self.folder / f"make_trace-{source.key}-{events}-{stamp}.json"
        flags = [*source.simulated, "--events-target", str(events)]
        made_by = f"build/release/bench/make_trace {' '.join(flags)} --out {path.name}"
        return self.kept(path, made_by, [str(self.make_trace), *flags, "--out"])

    def kept(self, path, made_by, argv, count="events"):
        """The file that `argv` writes to the path after its last word; it prints JSON with the number of events as `count`."""
        about = path.with_suffix(".about")
        if not (path.is_file() and about.is_file()):
            self.say(f"  making {path.name}")
            part = path.with_suffix(".part" + path.suffix)
            done = subprocess.run([*argv, str(part)], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                part.unlink(missing_ok=True)
                raise RuntimeError(f"{path.name} could not be made: {done.stderr.strip()[-300:]}")
            try:
                events = json.loads(done.stdout)[count]
            except (ValueError, KeyError, TypeError):
                events = count_events(part)
            about.write_text(json.dumps({"events": events}), encoding="ascii")
            part.rename(path)
        events = json.loads(about.read_text(encoding="ascii"))["events"]
        return Input(path, path.stat().st_size, events, made_by)

    def packed(self, plain):
        """The same text as one gzip member."""
        path = plain.path.with_name(plain.path.name + ".gz")
        if not path.is_file():
            self.say(f"  packing {path.name}")
            part = path.with_suffix(".part")
            with open(plain.path, "rb") as text, open(part, "wb") as stored:
                with gzip.GzipFile("", "wb", GZIP_LEVEL, stored, mtime=0) as out:
                    shutil.copyfileobj(text, out, 1 << 20)
            part.rename(path)
        made_by = f"gzip -{GZIP_LEVEL} -n -k {plain.name}"
        return Input(path, path.stat().st_size, plain.events, made_by, plain.bytes)

    def room_for(self, wanted_bytes):
        return shutil.disk_usage(self.folder).free > wanted_bytes + (2 << 30)


def digest(*paths):
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.read_bytes())
    return whole.hexdigest()[:8]


def count_events(path):
    """Counts events with Python's json, in a process of its own, because memory once used here stays used."""
    program = "import json,sys; print(len(json.load(open(sys.argv[1], 'rb'))['traceEvents']))"
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout)
