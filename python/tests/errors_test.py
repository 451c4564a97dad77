"""Invalid questions raise the same message as the command line; nothing crashes."""

import gzip
import json
import pickle
import threading
import time

import pytest
import stepscope
from stepscope import _core

from conftest import SAMPLES, said

TRACE = "examples/samples/generated_slow_input.json.gz"


def sentence(*words):
    code, _, err = said(*words)
    assert code != 0
    # the command line adds the file's name, as it may have several; a Trace is one
    return err.splitlines()[0].removeprefix("stepscope: ").removeprefix(f"{TRACE}: ")


@pytest.mark.parametrize("name, keywords, options", [
    ("kernel", {}, []),
    ("nonsense", {}, []),
    ("kernels", {"tpo": 3}, ["--tpo", "3"]),
    ("kernels", {"top": "many"}, ["--top", "many"]),
    ("kernels", {"top": -1}, ["--top=-1"]),
    ("kernels", {"top": 10**30}, ["--top", str(10**30)]),
    ("kernels", {"step": "3-1"}, ["--step", "3-1"]),
    ("kernels", {"step": 99}, ["--step", "99"]),
    ("kernels", {"sort": "tiem"}, ["--sort", "tiem"]),
    ("operators", {"group": "colour"}, ["--group", "colour"]),
    ("event", {}, []),
])
def test_wrong_questions(one_rank, name, keywords, options):
    with pytest.raises(stepscope.UsageError) as raised:
        one_rank.analyze(name, **keywords)
    assert str(raised.value) == sentence("show", name, TRACE, *options)
    assert isinstance(raised.value, ValueError)


def test_what_is_not_there(one_rank):
    with pytest.raises(stepscope.Error) as raised:
        one_rank.analyze("event", id=10**9)
    assert str(raised.value) == sentence("show", "event", TRACE, "--id", "1000000000")
    with pytest.raises(stepscope.UsageError) as raised:
        one_rank.report(step=99)
    assert str(raised.value) == sentence("report", TRACE, "--step", "99")


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        stepscope.open("no/such.json")
    assert isinstance(raised.value, stepscope.Error)
    assert str(raised.value) == sentence("report", "no/such.json")
    (tmp_path / "words.json").write_text("only words")
    for path in (tmp_path, tmp_path / "words.json"):
        with pytest.raises(stepscope.Error) as raised:
            stepscope.open(path)
        assert str(raised.value) == sentence("report", path)
        assert not isinstance(raised.value, FileNotFoundError)


def test_a_file_of_several_that_cannot_be_read_is_a_warning(tmp_path):
    (tmp_path / "words.json").write_text("only words")
    with pytest.warns(UserWarning, match="not read: .*words.json"):
        trace = stepscope.open([TRACE, tmp_path / "words.json"])
    assert len(trace.unread) == 1 and len(trace.ranks) == 1


def test_names_that_are_not_utf8(tmp_path):
    path = tmp_path / "caf\udce9.json"
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    path.write_text(json.dumps({"traceEvents": [event]}))
    assert stepscope.open(path).ranks[0].path == str(path)


@pytest.mark.parametrize("path", [None, 7, [7], [None], object(), {"a": 1}.items()])
def test_paths_of_the_wrong_type(path):
    with pytest.raises(TypeError):
        stepscope.open(path)


@pytest.mark.parametrize("path", ["", [], "a\0b", ["", "a"]])
def test_paths_that_make_no_sense(path):
    with pytest.raises(stepscope.Error):
        stepscope.open(path)


@pytest.mark.parametrize("threads, error", [(-1, ValueError), ("two", TypeError), (2**70, TypeError), (None, TypeError)])
def test_threads_that_make_no_sense(threads, error):
    with pytest.raises(error):
        stepscope.open(TRACE, threads=threads)


def test_threads_change_nothing(one_rank):
    assert stepscope.open(TRACE, threads=10**9).analyze("steps").to_json() == one_rank.analyze("steps").to_json()


@pytest.mark.parametrize("keywords", [
    {"top": object()}, {"top": [1]}, {"sort": b"time"}, {"tb_compat": "yes"}, {"tb_compat": 1}, {"step": {1}}, {"sort": "\udc80"}])
def test_values_of_the_wrong_type(one_rank, keywords):
    with pytest.raises((TypeError, ValueError)):
        one_rank.analyze("kernels", **keywords)


@pytest.mark.parametrize("value", [True, 1.5, "", range(3, 3), range(1, 9, 2), "\0", "7\n", "９"])
def test_steps_that_are_none(one_rank, value):
    with pytest.raises(stepscope.UsageError):
        one_rank.analyze("kernels", step=value)


def test_closed_traces():
    trace = stepscope.open(TRACE)
    trace.close()
    trace.close()
    assert "closed" in repr(trace)
    for use in (lambda: trace.ranks, lambda: trace.analyze("steps"), trace.report, trace.__enter__):
        with pytest.raises(stepscope.Error, match="the trace is closed"):
            use()


def test_objects_that_were_never_made(one_rank):
    for kind in (_core.Trace, _core.Report, _core.Page, _core.Table):
        with pytest.raises(TypeError):
            kind()
    with pytest.warns(RuntimeWarning, match="uninitialized"), pytest.raises(TypeError):
        _core.Table.__len__(_core.Table.__new__(_core.Table))
    table = one_rank.analyze("kernels")[0]._core
    for wrong in (99, -1, None, "0"):
        with pytest.raises((IndexError, TypeError)):
            table.list(wrong)
        with pytest.raises((IndexError, TypeError)):
            table.numbers(wrong)
    with pytest.raises(TypeError):
        pickle.dumps(one_rank)


def test_other_threads_run_while_a_trace_is_opened(tmp_path):
    with gzip.open(SAMPLES / "cnn.pt.trace.json.gz") as file:
        recorded = json.load(file)
    recorded["traceEvents"] *= 160
    path = tmp_path / "long.json"
    path.write_text(json.dumps(recorded))
    reading = threading.Thread(target=stepscope.open, args=(path,))
    ticks, begin = 0, time.monotonic()
    reading.start()
    while reading.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert time.monotonic() - begin > 0.1, "too short to tell"
    assert ticks > 20
