"""Writing recordings, and reading them back. Nothing here needs PyTorch."""

import asyncio
import gzip
import json
import os
import subprocess
import sys
import threading

import pytest

import stepscope
import stepscope.profiler as sp
from stepscope.profiler import ProfilerError, profile, record_function


def names(prof):
    return [event.name for event in prof.events()]


def test_ranges_nest():
    with profile(activities=[]) as prof:
        with record_function("outer") as outer:
            with record_function("inner", "some args"):
                pass
    assert outer.name == "outer"
    outer, inner = prof.events()
    assert (outer.name, inner.name) == ("outer", "inner")
    assert inner.cpu_parent is outer and outer.cpu_children == [inner]
    assert outer.is_user_annotation and outer.scope == 7
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - inner.cpu_time_total)
    assert outer.time_range.start <= inner.time_range.start <= inner.time_range.end <= outer.time_range.end


def test_decorated_functions():
    @record_function("called")
    def call(depth):
        """Says so."""
        return depth if depth == 0 else call(depth - 1)

    @record_function("awaited")
    async def wait(result):
        await asyncio.sleep(0)
        return result

    with profile(activities=[]) as prof:
        assert call(2) == 0
        assert asyncio.run(wait(5)) == 5
    assert call.__name__ == "call" and call.__doc__ == "Says so."
    assert names(prof) == ["called", "awaited"]  # an only child is merged into its parent of the same name


def test_ranges_of_coroutines_keep_their_own_times():
    async def task(name, order):
        with record_function(name):
            for _ in range(order):
                await asyncio.sleep(0.01)

    async def both():
        await asyncio.gather(task("long", 4), task("short", 1))

    with profile(activities=[]) as prof:
        asyncio.run(both())
    long, short = (next(event for event in prof.events() if event.name == name) for name in ("long", "short"))
    assert long.cpu_time_total > 40_000 > short.cpu_time_total > 10_000


class Future:
    def then(self, callback):
        self.callback = callback
        return self

    def value(self):
        return 7


def test_a_range_may_wait_for_a_future():
    future = Future()
    with profile(activities=[]) as prof:
        with record_function("waits") as waits:
            waits._call_end_callbacks_on_future(future)
            with pytest.raises(ProfilerError, match="already waits for a future"):
                waits._call_end_callbacks_on_future(future)
        with record_function("later"):
            pass
        assert future.callback(future) == 7
    waits, later = prof.events()
    assert waits.is_async and waits.time_range.end > later.time_range.end and later.cpu_parent is None
    assert waits.self_cpu_time_total == 0


def test_names_are_texts():
    with pytest.raises(TypeError):
        record_function(7)
    with pytest.raises(TypeError):
        record_function()
    with pytest.raises(UnicodeEncodeError):
        record_function("\ud800")
    with profile(activities=[]) as prof:
        with record_function(name="ü" * 3, args=None):
            pass
        with record_function("x" * 20_000):
            pass
    assert names(prof) == ["ü" * 3, "x" * 8192]


def test_ranges_by_push_and_pop_and_marks():
    with profile(activities=[]) as prof:
        sp.range_push("pushed")
        sp.mark("instant")
        with sp.itt.range("formatted {}", 3):
            pass
        sp.range_pop()
        sp.range_pop()  # nothing is open
    assert names(prof) == ["pushed", "instant", "formatted 3"]
    assert sp.itt.is_available()


def test_threads():
    def work(name):
        for _ in range(50):
            with record_function(name):
                pass

    with profile(activities=[]) as prof:
        threads = [threading.Thread(target=work, args=(f"thread {i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {(average.key, average.count) for average in prof.key_averages()} == {(f"thread {i}", 50) for i in range(4)}
    assert all(event.cpu_parent is None for event in prof.events())
    assert len({event.thread for event in prof.events()}) == 4


def test_the_trace_is_kinetos(tmp_path):
    prof = profile(activities=[], record_shapes=True, custom_trace_id_callback=lambda: "id of mine")
    prof.preset_metadata_json("preset", "[1, 2]")
    with prof:
        prof.add_metadata("text", 'a "quoted" one')
        prof.add_metadata_json("json", '{"a":\n1}')
        with record_function("range"):
            pass
    prof.add_metadata_json("late", "true")
    assert prof.get_trace_id() == "id of mine"
    for _ in range(2):
        prof.export_chrome_trace(str(tmp_path / "a.json"))
        prof.export_chrome_trace(tmp_path / "a.json.gz")
    trace = json.loads((tmp_path / "a.json").read_text())
    assert trace.pop("traceName") == str(tmp_path / "a.json")
    compressed = json.loads(gzip.decompress((tmp_path / "a.json.gz").read_bytes()))
    assert compressed.pop("traceName") == str(tmp_path / "a.json.gz")
    assert trace == compressed
    told = {key: trace[key] for key in ("preset", "text", "json", "late", "trace_id", "record_shapes")}
    assert told == {
        "preset": [1, 2],
        "text": 'a "quoted" one',
        "json": {"a": 1},
        "late": True,
        "trace_id": "id of mine",
        "record_shapes": 1,
    }
    assert [event["name"] for event in trace["traceEvents"] if event.get("cat") == "user_annotation"] == ["range"]
    marks = 2  # the instants at which the recording begins and ends
    assert stepscope.open(tmp_path / "a.json").ranks[0].events == stepscope.open(prof.recording_path).ranks[0].events + marks
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.json.gz"]


def test_metadata_may_be_long():
    long = json.dumps(["x" * 100] * 3000)
    with profile(activities=[]) as prof:
        prof.add_metadata_json("long", long)
        with pytest.raises(ProfilerError, match="longer than"):
            prof.add_metadata_json("longer", json.dumps("x" * 600_000))
    with profile(activities=[]):
        pass


def test_trace_ids_are_of_a_cycle():
    with profile(activities=[]) as first, pytest.raises(ProfilerError):
        assert len(first.get_trace_id()) == 32
        first.start()
    before = first.get_trace_id()
    first.set_custom_trace_id_callback(lambda: "next")
    with first:
        pass
    assert before != first.get_trace_id() == "next"


def test_a_recording_of_ones_own_stays(tmp_path):
    path = tmp_path / "run.stepscope"
    for _ in range(2):  # an earlier recording is replaced
        with profile(activities=[], path=path, megabytes=2) as prof:
            with record_function("mine"):
                pass
        assert prof.recording_path == path
        del prof
    assert stepscope.open(path).ranks
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(stepscope.Error, match="is not a recording, so it is not replaced"):
        profile(activities=[], path=tmp_path / "notes.txt").start()
    with pytest.raises(stepscope.Error, match="choose a path whose folder can be created"):
        profile(activities=[], path=tmp_path / "notes.txt" / "run.stepscope").start()
    with profile(activities=[]):
        pass


def test_each_cycle_is_a_file(tmp_path):
    plan = sp.schedule(wait=0, warmup=1, active=1, repeat=3)
    with profile(activities=[], schedule=plan, path=tmp_path / "run.stepscope") as prof:
        for _ in range(6):
            prof.step()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.2.stepscope", "run.3.stepscope", "run.stepscope"]


def test_temporary_recordings_go(tmp_path):
    paths = []
    plan = sp.schedule(wait=0, warmup=1, active=1, repeat=2)
    with profile(activities=[], schedule=plan, on_trace_ready=lambda p: paths.append(p.recording_path)) as prof:
        for _ in range(4):
            prof.step()
    assert [path.exists() for path in paths] == [False, True]
    events = prof.events()
    del prof
    assert not paths[1].exists()
    assert [event.name for event in events] == ["ProfilerStep*"]  # events that were read before remain
    events.export_chrome_trace(tmp_path / "events.json")
    assert [event["name"] for event in json.loads((tmp_path / "events.json").read_text())] == ["ProfilerStep#3"]


def test_events_of_all_cycles():
    plan = sp.schedule(wait=0, warmup=1, active=1, repeat=2)
    with profile(activities=[], schedule=plan, acc_events=True) as prof:
        for _ in range(4):
            prof.step()
    assert [event.trace_name for event in prof.events()] == ["ProfilerStep#1", "ProfilerStep#3"]
    assert prof.key_averages()[0].count == 2


def test_what_found_no_room_is_said():
    with profile(activities=[], megabytes=1) as prof:
        for i in range(40_000):
            with record_function("filled"):
                pass
    with pytest.warns(UserWarning, match="records were dropped"):
        kept = prof.key_averages()[0].count
    assert 30_000 < kept < 40_000


def test_collection_may_be_switched_off_and_on():
    with profile(activities=[]) as prof:
        for name, on in (("a", False), ("b", True), ("c", False), ("d", True)):
            with record_function(name):
                pass
            prof.toggle_collection_dynamic(on, [sp.ProfilerActivity.CPU])
        with record_function("e"):
            pass
    assert names(prof) == ["a", "c", "e"]
    with pytest.raises(ProfilerError, match="not on"):
        prof.toggle_collection_dynamic(True, [sp.ProfilerActivity.CPU])


KILLED = """
import os, signal, sys
import stepscope.profiler as sp
prof = sp.profile(activities=[], path=sys.argv[1] or None)
prof.start()
for _ in range(100):
    with sp.record_function("before the end"):
        pass
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("own_path", [True, False])
def test_a_killed_program_leaves_its_recording(tmp_path, own_path):
    path = tmp_path / "run.stepscope"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", KILLED, str(path) if own_path else ""], env=environment, check=False)
    left = list(tmp_path.rglob("*.stepscope"))
    assert len(left) == 1 and (left[0] == path) == own_path
    assert stepscope.open(left[0]).ranks[0].events > 100


ENDED = """
import atexit, sys
import stepscope.profiler as sp
prof = sp.profile(activities=[])
if "stopped at exit" in sys.argv:
    atexit.register(lambda: (prof.stop(), print(len(prof.events()))))
prof.start()
with sp.record_function("kept"):
    pass
if "stopped" in sys.argv:
    prof.stop()
"""


def ended(tmp_path, how):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", ENDED, how], env=environment, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr, list(tmp_path.rglob("*.stepscope"))


def test_what_the_end_of_a_program_leaves(tmp_path):
    assert ended(tmp_path, "stopped") == ("", "", [])
    assert ended(tmp_path, "stopped at exit") == ("1\n", "", [])
    out, said, left = ended(tmp_path, "not stopped")
    assert said == f"stepscope: a profiler was never stopped; its recording is in {left[0]}\n"
    assert stepscope.open(left[0]).ranks[0].events > 1


def test_traces_for_tensorboard(tmp_path):
    handler = sp.tensorboard_trace_handler(str(tmp_path / "a" / "b"), worker_name="w")
    zipped = sp.tensorboard_trace_handler(str(tmp_path / "a" / "b"), use_gzip=True)
    with profile(activities=[], on_trace_ready=lambda prof: (handler(prof), handler(prof), zipped(prof))):
        pass
    files = sorted(path.name for path in (tmp_path / "a" / "b").iterdir())
    assert len(files) == 3
    assert [name.split(".")[0] for name in files].count("w") == 2
    assert sum(name.endswith(".pt.trace.json") for name in files) == 2
    assert sum(name.endswith(f"_{os.getpid()}.{name.split('.')[-5]}.pt.trace.json.gz") for name in files) == 1
    (tmp_path / "file").write_text("")
    with pytest.raises(ProfilerError, match="name a folder"):
        sp.tensorboard_trace_handler(str(tmp_path / "file" / "x"))(None)


def test_where_there_is_no_pytorch_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ProfilerError, match="install torch"):
        profile(backend="kineto")
    with pytest.raises(ProfilerError, match="activities=\\[\\]"):
        profile().start()
    with profile(activities=[]):
        pass
