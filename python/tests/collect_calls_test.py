"""Python calls in recordings, compared with call trees written by hand."""

from __future__ import annotations

import cProfile
import sys
import threading
from pathlib import Path

import pytest
from collecting import BUILTINS, CALLS, calls, exported, of_file, recorded, short, tree, trees

from stepscope import _collect

OLD = sys.version_info < (3, 12)


def test_a_tree(tmp_path: Path) -> None:
    def leaf() -> None: ...

    def branch() -> None:
        leaf()
        leaf()

    def work() -> None:
        branch()
        leaf()

    assert tree(tmp_path, work) == ("work", ("branch", ("leaf",), ("leaf",)), ("leaf",))


def test_recursion(tmp_path: Path) -> None:
    def down(depth: int) -> None:
        if depth:
            down(depth - 1)

    def work() -> None:
        down(2)
        down(0)

    assert tree(tmp_path, work) == ("work", ("down", ("down", ("down",))), ("down",))


def test_a_generator_is_a_call_each_time_it_runs(tmp_path: Path) -> None:
    def leaf() -> None: ...

    def numbers():  # type: ignore[no-untyped-def]
        yield 1
        leaf()
        yield 2

    def work() -> None:
        for _ in numbers():
            leaf()

    assert tree(tmp_path, work) == ("work", ("numbers",), ("leaf",), ("numbers", ("leaf",)), ("leaf",), ("numbers",))


def test_an_exception_thrown_into_a_generator(tmp_path: Path) -> None:
    def leaf() -> None: ...

    def numbers():  # type: ignore[no-untyped-def]
        try:
            yield 1
        except KeyError:
            leaf()
            yield 2

    def work() -> None:
        generator = numbers()
        next(generator)
        generator.throw(KeyError())
        with pytest.raises(ValueError):
            generator.throw(ValueError())
        leaf()

    inner = [t for t in tree(tmp_path, work)[1:] if t[0] != "raises"]
    assert inner == [("numbers",), ("numbers", ("leaf",)), ("numbers",), ("leaf",)]


def test_exceptions_end_what_they_leave(tmp_path: Path) -> None:
    def leaf() -> None: ...

    def fails() -> None:
        raise ValueError

    def passes_on() -> None:
        fails()
        leaf()

    def catches() -> None:
        try:
            passes_on()
        except ValueError:
            leaf()

    def work() -> None:
        catches()
        leaf()

    assert tree(tmp_path, work) == ("work", ("catches", ("passes_on", ("fails",)), ("leaf",)), ("leaf",))


def test_coroutines(tmp_path: Path) -> None:
    def leaf() -> None: ...

    async def inner() -> None:
        leaf()

    async def outer() -> None:
        await inner()

    def work() -> None:
        with pytest.raises(StopIteration):
            outer().send(None)

    assert tree(tmp_path, work) == ("work", ("outer", ("inner", ("leaf",))))


def test_classes_and_lambdas_have_their_names(tmp_path: Path) -> None:
    class Thing:
        def method(self) -> int:
            return (lambda: 1)()

    def work() -> None:
        Thing().method()

    events = recorded(tmp_path, work)
    method = next(e for e in calls(events) if short(e["name"]) == "method")
    line = Thing.method.__code__.co_firstlineno
    qualified = "test_classes_and_lambdas_have_their_names.<locals>.Thing.method" if sys.version_info >= (3, 11) else "method"
    assert method["name"].endswith(f"{Path(__file__).name}({line}): {qualified}")
    assert tree(tmp_path, work) == ("work", ("method", ("<lambda>",)))


def test_paths_begin_behind_the_longest_entry_of_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "deeper"
    folder.mkdir()
    (folder / "somewhere_deeper.py").write_text("def found():\n    pass\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(folder), *sys.path])
    import somewhere_deeper  # type: ignore[import-not-found]

    events = recorded(tmp_path, somewhere_deeper.found)
    assert [e["name"] for e in calls(events) if "found" in e["name"]] == ["somewhere_deeper.py(1): found"]


def test_code_that_comes_and_goes_keeps_names_apart(tmp_path: Path) -> None:
    def work() -> None:
        for i in range(50):
            space: dict = {}
            exec(compile(f"def made_{i}(): pass\nmade_{i}()", "made", "exec"), space)
            del space

    names = [short(e["name"]) for e in calls(recorded(tmp_path, work)) if "made_" in e["name"]]
    assert sorted(names) == sorted(f"made_{i}" for i in range(50))


def test_what_is_open_at_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "open.stepscope"

    def leaf() -> None: ...

    def begins() -> None:
        _collect.start()
        assert _collect.python_start(CALLS) == ""
        leaf()

    def ends() -> None:
        leaf()
        _collect.python_stop()
        _collect.stop()
        leaf()

    def work() -> None:
        begins()
        ends()

    _collect.open(path, 16, 0)
    work()
    _collect.close()
    events = exported(path)
    (outer,) = [t for t in trees(events, of_file(__file__)) if t[0].startswith("test_")]
    assert outer[1:] == (("work", ("begins", ("leaf",)), ("ends", ("leaf",))),)
    late = {short(e["name"]) for e in calls(events) if e["args"].get("finished") is False and of_file(__file__)(e)}
    assert late == {"ends", "work", "test_what_is_open_at_both_ends"}


def test_a_recording_that_goes_on_behind_a_pause(tmp_path: Path) -> None:
    path = tmp_path / "pause.stepscope"

    def leaf() -> None: ...

    def unseen() -> None: ...

    def part() -> None:
        _collect.start()
        assert _collect.python_start(CALLS) == ""
        leaf()
        _collect.python_stop()
        _collect.stop()

    def work() -> None:
        part()
        unseen()
        part()

    _collect.open(path, 16, 0)
    work()
    _collect.close()
    found = [t for t in trees(exported(path), of_file(__file__)) if t[0].startswith("test_")]
    assert [t[1:] for t in found] == 2 * [(("work", ("part", ("leaf",))),)]


def test_threads_that_began_before_and_after(tmp_path: Path) -> None:
    go, done, stay = threading.Event(), threading.Event(), threading.Event()

    def leaf() -> None: ...

    def early_work() -> None:
        leaf()

    def early() -> None:
        go.wait()
        early_work()
        done.set()
        stay.wait()

    def late() -> None:
        leaf()

    def work() -> None:
        go.set()
        done.wait()
        thread = threading.Thread(target=late)
        thread.start()
        thread.join()

    thread = threading.Thread(target=early, daemon=True)
    thread.start()
    events = recorded(tmp_path, work)
    stay.set()
    thread.join()
    found = trees(events, of_file(__file__))
    assert ("early", ("early_work", ("leaf",))) in found
    assert ("late", ("leaf",)) in found
    assert len({e["tid"] for e in calls(events)}) == 3
    (early_call,) = [e for e in calls(events) if short(e["name"]) == "early"]
    assert early_call["tid"] == thread.native_id
    assert early_call["args"]["finished"] is False


def test_recursion_beyond_what_is_kept(tmp_path: Path) -> None:
    depth = 6000

    def down(left: int) -> None:
        if left:
            down(left - 1)

    def work() -> None:
        down(depth - 1)
        down(0)

    def in_a_thread() -> None:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(2 * depth)
        threading.stack_size(512 << 20)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        threading.stack_size(0)
        sys.setrecursionlimit(before)

    events = recorded(tmp_path, in_a_thread)
    (work_call,) = [e for e in calls(events) if short(e["name"]) == "work"]
    downs = [e for e in calls(events) if short(e["name"]) == "down"]
    outer = 1
    of_id = {e["args"]["Python id"]: e for e in calls(events)}
    call = work_call
    while call["args"]["Python parent id"] is not None:
        call = of_id[call["args"]["Python parent id"]]
        outer += 1
    assert len(downs) == 4096 - outer + 1
    assert work_call["dur"] >= max(e["dur"] for e in downs)


@pytest.mark.skipif(not OLD, reason="from Python 3.12 on, functions written in C are not asked for")
def test_functions_written_in_c(tmp_path: Path) -> None:
    def work() -> None:
        len([])
        try:
            int("x")
            [].index(1)
        except ValueError:
            pass
        [].append(sorted([2, 1], key=lambda x: x))

    events = recorded(tmp_path, work, CALLS | BUILTINS)
    found = trees(events, lambda e: of_file(__file__)(e) or "<built-in" in e["name"])
    (outer,) = [t for t in found if t[0].startswith("test_")]
    (inner,) = [t for t in outer[1:] if t[0] == "work"]
    assert inner == (
        "work",
        ("<built-in function len>",),
        ("<built-in function sorted>", ("<lambda>",), ("<lambda>",)),
        ("<built-in method append of list>",),
    )


@pytest.mark.skipif(not OLD, reason="from Python 3.12 on, cProfile is no obstacle")
def test_another_profiler_keeps_its_place(tmp_path: Path) -> None:
    def leaf() -> None: ...

    other = cProfile.Profile()
    _collect.open(tmp_path / "other.stepscope", 16, 0)
    _collect.start()
    other.enable()
    reason = _collect.python_start(CALLS)
    leaf()
    _collect.python_stop()
    other.disable()
    _collect.stop()
    _collect.close()
    assert "another profiler" in reason
    assert any("leaf" in str(entry.code) for entry in other.getstats())


@pytest.mark.skipif(OLD, reason="sys.monitoring came with Python 3.12")
def test_beside_another_profiler(tmp_path: Path) -> None:
    def leaf() -> None: ...

    def work() -> None:
        with cProfile.Profile() as other:
            leaf()
        assert any("leaf" in str(entry.code) for entry in other.getstats())

    assert ("leaf",) in tree(tmp_path, work)


@pytest.mark.skipif(OLD, reason="sys.monitoring came with Python 3.12")
def test_no_number_is_left(tmp_path: Path) -> None:
    for number in (3, 4):
        sys.monitoring.use_tool_id(number, "another")
    _collect.open(tmp_path / "full.stepscope", 16, 0)
    _collect.start()
    reason = _collect.python_start(CALLS)
    _collect.python_stop()
    _collect.stop()
    _collect.close()
    for number in (3, 4):
        sys.monitoring.free_tool_id(number)
    assert "3 and 4" in reason


@pytest.mark.skipif(OLD, reason="sys.monitoring came with Python 3.12")
def test_what_an_earlier_tool_switched_off_is_seen(tmp_path: Path) -> None:
    def leaf() -> None: ...

    monitoring = sys.monitoring
    monitoring.use_tool_id(3, "another")
    monitoring.register_callback(3, monitoring.events.PY_START, lambda *_: monitoring.DISABLE)
    monitoring.set_events(3, monitoring.events.PY_START)
    leaf()
    monitoring.set_events(3, 0)
    monitoring.register_callback(3, monitoring.events.PY_START, None)
    monitoring.free_tool_id(3)

    def work() -> None:
        leaf()

    assert tree(tmp_path, work) == ("work", ("leaf",))


def test_many_recordings_leave_no_hook(tmp_path: Path) -> None:
    def work() -> None: ...

    for _ in range(20):
        recorded(tmp_path, work)
    assert sys.getprofile() is None
    assert threading._profile_hook is None  # type: ignore[attr-defined]
    assert tree(tmp_path, work) == ("work",)
