"""Sampled stacks in recordings."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from collecting import CALLS, SAMPLES, Tree, calls, exported, of_file, recorded, short, trees

from stepscope import _collect
from stepscope.profiler._sources import source_lines

CAN_BE_READ = (3, 11) <= sys.version_info < (3, 14)
pytestmark = pytest.mark.skipif(not CAN_BE_READ, reason="stacks are read on Python 3.11, 3.12 and 3.13")


def busy(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(2000))


def quiet(seconds: float) -> None:
    time.sleep(seconds)


def samples(events, name: str) -> int:  # type: ignore[no-untyped-def]
    return sum(e["args"]["samples"] for e in calls(events) if short(e["name"]) == name)


def seconds(events, name: str) -> float:  # type: ignore[no-untyped-def]
    return sum(e["dur"] for e in calls(events) if short(e["name"]) == name) / 1e6


def joined(siblings: list[Tree]) -> list[Tree]:
    """Trees in which the lines of one call are one tree."""
    out: list[Tree] = []
    for name, *below in siblings:
        if out and out[-1][0] == name:
            below = [*out.pop()[1:], *below]
        out.append((name, *joined(below)))
    return out


def test_lines_of_the_program_are_listed_with_their_text(tmp_path: Path) -> None:
    source_lines()
    recorded(tmp_path, lambda: busy(0.3), SAMPLES)
    lines = source_lines()
    assert "sum(range(2000))" in lines.values()
    assert all("(" in place and "threading.py" not in place and "stepscope/" not in place for place in lines)
    assert source_lines() == {}


def test_what_runs_is_seen_as_long_as_it_runs(tmp_path: Path) -> None:
    def work() -> None:
        busy(1.0)
        quiet(0.5)

    began = time.perf_counter()
    events = recorded(tmp_path, work, SAMPLES)
    took = time.perf_counter() - began
    assert all(e["args"]["sampled"] == threading.get_native_id() for e in calls(events))
    assert 10 < samples(events, "work") <= took / 0.010 + 2
    assert 0.8 * 1.5 <= seconds(events, "work") <= took + 0.05
    assert 0.8 <= seconds(events, "busy") <= took - 0.4
    assert 0.4 <= seconds(events, "quiet") <= 0.6
    (outer,) = joined([t for t in trees(events, of_file(__file__)) if t[0].startswith("test_")])
    assert outer == ("test_what_runs_is_seen_as_long_as_it_runs", ("work", ("busy",), ("quiet",)))


def test_a_frame_has_the_line_that_runs(tmp_path: Path) -> None:
    def work() -> None:
        first = busy
        first(0.3)
        [
            quiet(0.2)
            for _ in range(2)
        ]

    begin = work.__code__.co_firstlineno
    events = recorded(tmp_path, work, SAMPLES)
    spent: dict[int, float] = {}
    for e in calls(events):
        if short(e["name"]) == "work":
            line = int(e["name"].partition("(")[2].partition(")")[0]) - begin
            spent[line] = spent.get(line, 0) + e["dur"] / 1e6
    inner = {1: 0.0, 3: 0.0, 4: 0.0, 5: 0.0, 6: 0.0} | spent
    assert 0.2 <= inner[2] <= 0.5
    assert 0.25 <= inner[3] + inner[4] + inner[5] + inner[6] <= 0.7  # a comprehension is a call of its own before Python 3.12
    assert inner[1] <= 0.05


def test_samples_cost_little(tmp_path: Path) -> None:
    """Twenty threads with deep stacks cost more than 1 % of a core at 100 samples a second: fewer are taken."""

    def down(depth: int, end: threading.Event) -> None:
        if depth:
            down(depth - 1, end)
        else:
            end.wait()

    def work() -> None:
        end = threading.Event()
        threads = [threading.Thread(target=down, args=(100, end), daemon=True) for _ in range(20)]
        for thread in threads:
            thread.start()
        quiet(5.0)
        end.set()
        for thread in threads:
            thread.join()

    events = recorded(tmp_path, work, SAMPLES)
    assert 0 < samples(events, "quiet") < 250


def test_samples_have_a_track_of_their_own(tmp_path: Path) -> None:
    events = recorded(tmp_path, lambda: busy(0.2), SAMPLES)
    (track,) = {e["tid"] for e in calls(events)}
    assert track == threading.get_native_id() | 1 << 30
    (name,) = [e["args"]["name"] for e in events if e["name"] == "thread_name" and e["tid"] == track]
    assert name == f"thread {threading.get_native_id()}, sampled"


def test_names_in_any_script(tmp_path: Path) -> None:
    space: dict = {"busy": busy}
    exec(compile("def größe_变量():\n    busy(0.3)\n", "ä/файл😀.py", "exec"), space)
    events = recorded(tmp_path, space["größe_变量"], SAMPLES)
    assert "ä/файл😀.py(2): größe_变量" in {e["name"] for e in calls(events)}


def test_all_threads(tmp_path: Path) -> None:
    def waits(end: threading.Event) -> None:
        end.wait()

    def work() -> None:
        end = threading.Event()
        threads = [threading.Thread(target=waits, args=(end,), daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()
        busy(0.5)
        end.set()
        for thread in threads:
            thread.join()

    events = recorded(tmp_path, work, SAMPLES)
    waiting = [e for e in calls(events) if short(e["name"]) == "waits"]
    seen: dict[int, float] = {}
    for e in waiting:
        seen[e["tid"]] = seen.get(e["tid"], 0) + e["dur"]
    assert len(seen) == 3
    assert all(time >= 0.2e6 for time in seen.values())  # of 0.5 s: on a busy machine, late samples leave gaps


def test_threads_that_come_and_go_all_the_time(tmp_path: Path) -> None:
    """Ten seconds of reading stacks that vanish meanwhile."""

    def down(depth: int) -> int:
        return down(depth - 1) + 1 if depth else 0

    def short_life() -> None:
        for _ in range(200):
            down(30)

    def work() -> None:
        end = time.monotonic() + 10
        while time.monotonic() < end:
            threads = [threading.Thread(target=short_life) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    events = recorded(tmp_path, work, SAMPLES)
    assert samples(events, "work") > 100
    assert {"short_life", "down"} <= {short(e["name"]) for e in calls(events)}
    names = {e["name"] for e in calls(events)}
    assert all("): " in name for name in names)


LEFT_ON = """
import sys, threading, time
from stepscope import _collect
_collect.open(sys.argv[1], 16, 4); _collect.start(); assert _collect.python_start(4) == ""
def daemon():
    while True: sum(range(100))
for _ in range(4): threading.Thread(target=daemon, daemon=True).start()
time.sleep(0.05)
class AtTheEnd:
    def __del__(self): time.sleep(0.1)
kept = AtTheEnd()
"""


def test_a_program_that_ends_while_it_is_sampled(tmp_path: Path) -> None:
    for i in range(10):
        path = tmp_path / f"left_{i}.stepscope"
        done = subprocess.run([sys.executable, "-c", LEFT_ON, str(path)], capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert "daemon" in {short(e["name"]) for e in calls(exported(path))}


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="from Python 3.12 on, another profiler is no obstacle")
def test_samples_stand_in_where_another_profiler_is(tmp_path: Path) -> None:
    path = tmp_path / "other.stepscope"
    _collect.open(path, 16, 0)
    _collect.start()
    sys.setprofile(lambda *_: None)
    reason = _collect.python_start(CALLS)
    sys.setprofile(None)
    busy(0.3)
    _collect.python_stop()
    _collect.stop()
    _collect.close()
    assert reason.endswith("; falling back to samples")
    assert samples(exported(path), "busy") > 5


def test_sampling_many_times(tmp_path: Path) -> None:
    for _ in range(30):
        recorded(tmp_path, lambda: None, SAMPLES)
    assert "stepscope" not in [Path(f"/proc/self/task/{t.name}/comm").read_text().strip() for t in Path("/proc/self/task").iterdir()]
