"""Invalid questions raise the same message as the command line, with options as keywords; nothing crashes."""

import gzip
import errno
import json
import os
import re
import threading
import time

import pytest
import stepscope
from stepscope import _core

from program import SAMPLES, said

TRACE = "examples/samples/generated_slow_input.json.gz"


def in_python(text):
    text = re.sub(r"(?<=['( ])(--[a-z-]+) N\b", r"\1=N", text)
    return re.sub(r"(?<=['( ])--([a-z][a-z-]*)|^--([a-z][a-z-]*)", lambda m: (m[1] or m[2]).replace("-", "_"), text)


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
    assert str(raised.value) == in_python(sentence("show", name, TRACE, *options))
    assert "--" not in str(raised.value)
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
    assert (raised.value.errno, raised.value.filename) == (errno.ENOENT, "no/such.json")
    (tmp_path / "words.json").write_text("only words")
    for path in (tmp_path, tmp_path / "words.json"):
        with pytest.raises(stepscope.Error) as raised:
            stepscope.open(path)
        assert str(raised.value) == sentence("report", path)
        assert not isinstance(raised.value, FileNotFoundError)
    assert raised.value.filename == str(tmp_path / "words.json")


def test_files_that_may_not_be_read(tmp_path):
    path = tmp_path / "secret.json"
    path.write_text("{}")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    with pytest.raises(PermissionError) as raised:
        stepscope.open(path)
    assert isinstance(raised.value, stepscope.Error) and raised.value.errno == errno.EACCES
    assert raised.value.filename == str(path) and "Errno" not in str(raised.value)


def test_home_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "trace.json.gz").write_bytes((SAMPLES / "cnn.pt.trace.json.gz").read_bytes())
    assert stepscope.open("~/trace.json.gz").ranks[0].path == str(tmp_path / "trace.json.gz")
    with pytest.raises(FileNotFoundError) as raised:
        stepscope.open("~/absent.json")
    assert raised.value.filename == str(tmp_path / "absent.json")


def test_files_that_are_no_ranks_of_one_job_are_a_warning():
    with pytest.warns(UserWarning, match="do not look like the ranks of one job.*numbered by path: 0 .*cnn"):
        trace = stepscope.open([SAMPLES / "cnn.pt.trace.json.gz", SAMPLES / "mlp_two_workers.pt.trace.json.gz"])
    assert any("ranks of one job" in note for note in trace.notes)


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


def test_what_is_wrong_with_a_path_is_said():
    with open(TRACE, "rb") as file:
        for given, words in ((None, "not None"), (file, "not a file object: give its name, 'examples/samples"), ({0: TRACE}, "not a dict: give its values"),
                             ([file], "not a file object"), (7, "an object of type int")):
            with pytest.raises(TypeError, match=words):
                stepscope.open(given)


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
