"""Times whole processes from outside: wall clock, processor time and peak memory of one command at a time.

Commands take turns (A B C, A B C, ...), so that a change in the machine's speed affects all of them.
"""
import hashlib
import os
import resource
import signal
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass, field

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
CORES = len(os.sched_getaffinity(0))
MOST_TEXT = 1 << 16


@dataclass
class Command:
    """One row of a table. `warm_ups` rounds are run and not counted."""

    key: str
    argv: list
    rounds: int = 5
    warm_ups: int = 1
    limit_s: float = 400


@dataclass
class Output:
    digest: str
    bytes: int
    text: str


@dataclass
class Figures:
    """Measurements of one command's counted rounds: seconds, bytes, and the share of all cores that others used."""

    wall_s: list = field(default_factory=list)
    cpu_s: list = field(default_factory=list)
    peak_bytes: list = field(default_factory=list)
    others: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    failed: str = ""
    stopped_s: float = 0  # the limit that it exceeded

    @property
    def ok(self):
        return not self.failed and bool(self.wall_s)

    @property
    def wall(self):
        return statistics.median(self.wall_s)

    @property
    def cpu(self):
        return statistics.median(self.cpu_s)

    @property
    def peak(self):
        return max(self.peak_bytes)


def busy_s():
    """Processor seconds the machine spent on anything since it started; None if /proc does not have them."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _, _, irq, soft, steal = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + soft + steal) * TICK_S


def last_line(path):
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 4000))
        lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "it said nothing"


def output_of(path):
    """Digest and size of the output, and the text itself if it is short: this program must stay small."""
    whole = hashlib.sha256()
    with open(path, "rb") as file:
        first = file.read(MOST_TEXT)
        whole.update(first)
        for block in iter(lambda: file.read(MOST_TEXT), b""):
            whole.update(block)
        return Output(whole.hexdigest(), file.tell(), first.decode("utf-8", "replace"))


def run_once(command, figures, folder, counted):
    """Runs `command` with its output in files of `folder` and adds its measurements to `figures` if `counted`."""
    out, err = os.path.join(folder, "out"), os.path.join(folder, "err")
    before = busy_s()
    with open(out, "wb") as out_file, open(err, "wb") as err_file:
        begin = time.perf_counter()
        child = subprocess.Popen(command.argv, stdin=subprocess.DEVNULL, stdout=out_file, stderr=err_file,
                                 start_new_session=True)
        late = threading.Event()

        def stop():
            late.set()
            os.killpg(child.pid, signal.SIGKILL)

        timer = threading.Timer(command.limit_s, stop)
        timer.start()
        try:
            _, status, used = os.wait4(child.pid, 0)
            wall = time.perf_counter() - begin
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
    if late.is_set():
        figures.stopped_s = command.limit_s
        figures.failed = f"stopped after {command.limit_s:.0f} s"
    elif child.returncode != 0:
        figures.failed = f"exit status {child.returncode}: {last_line(err)}"
    elif counted:
        cpu = used.ru_utime + used.ru_stime
        figures.wall_s.append(wall)
        figures.cpu_s.append(cpu)
        figures.peak_bytes.append(used.ru_maxrss * 1024)
        if before is not None:
            figures.others.append(min(1.0, max(0.0, (busy_s() - before - cpu) / (wall * (os.cpu_count() or 1)))))
        figures.outputs.append(output_of(out))


def interleave(commands, folder, say):
    """Runs all commands in turn and returns {key: Figures}. A command that has failed is not run again."""
    figures = {command.key: Figures() for command in commands}
    warm_ups = max((command.warm_ups for command in commands), default=0)
    rounds = max((command.rounds for command in commands), default=0)
    for turn in range(-warm_ups, rounds):
        for command in commands:
            mine = figures[command.key]
            if mine.failed or turn < -command.warm_ups or turn >= command.rounds:
                continue
            run_once(command, mine, folder, counted=turn >= 0)
            if mine.failed:
                say(f"  {command.key}: {mine.failed}")
        say(f"  round {turn + 1} of {rounds}" if turn >= 0 else "  warm-up")
    return figures


def floor_bytes(folder):
    """Min peak memory that this method can measure: a child starts as a copy of the program that times it."""
    figures = Figures()
    run_once(Command("true", ["true"]), figures, folder, counted=True)
    return figures.peak if figures.ok else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
