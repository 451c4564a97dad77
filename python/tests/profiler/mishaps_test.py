"""Errors around a profiler leave nothing that would block the next profiler. Nothing here needs PyTorch."""

import copy
import os
import pickle
import subprocess
import sys
import warnings

import pytest
from collecting import Late, late_at

import stepscope
from stepscope.profiler import ProfilerAction, ProfilerError, _control, _places, _recording, profile, record_function, schedule, tensorboard_trace_handler

MEGABYTE = 1 << 20


def recorded(prof, *names):
    with prof:
        for name in names:
            with record_function(name):
                pass
    return prof


def names(prof):
    return [event.name for event in prof.events()]


def ranges(**arguments):
    return profile(activities=[], **arguments)


class Refusing:
    def start(self):
        raise OSError("no")

    def stop(self):
        pass


def test_a_start_that_fails_is_undone():
    prof = ranges(execution_trace_observer=Refusing())
    with pytest.raises(OSError, match="no"):
        prof.start()
    assert names(recorded(ranges(), "another")) == ["another"]
    prof.execution_trace_observer = None
    assert names(recorded(prof, "again")) == ["again"]


def test_a_failing_trace_id_is_undone():
    def no_id():
        raise ValueError("no id")

    with pytest.raises(ValueError, match="no id"):
        ranges(custom_trace_id_callback=no_id).start()
    assert names(recorded(ranges(), "another")) == ["another"]


def test_an_interrupt_while_the_file_is_made(monkeypatch, tmp_path):
    class Interrupting:
        def add(self, recording):
            raise KeyboardInterrupt

    path = tmp_path / "run.stepscope"
    with monkeypatch.context() as patch:
        patch.setattr(_recording, "alive", Interrupting())
        with pytest.raises(KeyboardInterrupt):
            ranges(path=path).start()
    assert names(recorded(ranges(path=path), "next")) == ["next"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # a file that was open when the error was raised
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # raised where Python only reports it
@pytest.mark.parametrize("with_path", [False, True])
@pytest.mark.parametrize("part", ["start", "work", "stop"])
def test_a_signal_may_raise_between_any_two_lines(tmp_path, part, with_path):
    for number in range(1, 1000):
        trace, lines = late_at(number)
        raised = []
        prof = ranges(path=tmp_path / "run.stepscope" if with_path else None, schedule=schedule(wait=0, warmup=1, active=2))
        try:
            if part == "start":
                sys.settrace(trace)
            with prof:
                for _ in range(3):
                    if part == "work":
                        sys.settrace(trace)
                    with record_function("work"):
                        pass
                    prof.step()
                    sys.settrace(None)
                if part == "stop":
                    sys.settrace(trace)
        except Late as late:
            raised.append(late)  # keeps its frames alive, like a program that stores the error
        finally:
            sys.settrace(None)
        assert names(recorded(ranges(), "next")) == ["next"], number
        if lines[0] < number:
            break
    assert not raised and number > 30


@pytest.mark.parametrize("kind", [RuntimeError, TimeoutError])
def test_what_a_handler_raises_while_the_file_is_made_is_not_taken_for_the_files(monkeypatch, kind):
    made = _recording._collect.open

    def interrupted(*arguments):
        made(*arguments)
        raise kind("from a handler")

    with monkeypatch.context() as patch:
        patch.setattr(_recording._collect, "open", interrupted)
        with pytest.raises(kind, match="from a handler"):
            ranges().start()
    assert names(recorded(ranges(), "next")) == ["next"]


def test_a_step_that_fails_leaves_nothing_on():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="RECORD"):
            with ranges(schedule=lambda step: ProfilerAction.RECORD if step < 2 else ProfilerAction.NONE) as prof:
                for _ in range(4):
                    prof.step()
    assert names(recorded(ranges(), "next")) == ["next"]


def test_a_handler_of_traces_that_fails_does_not_end_the_cycles():
    def refuses(prof):
        raise KeyError(prof.step_num)

    failed = []
    prof = ranges(schedule=lambda step: ProfilerAction.RECORD_AND_SAVE, on_trace_ready=refuses, acc_events=True)
    with pytest.raises(KeyError), prof:
        for i in range(3):
            with record_function(f"work {i}"):
                pass
            try:
                prof.step()
            except KeyError as error:
                failed.append(error.args[0])
    assert failed == [1, 2, 3]
    assert [name for name in names(prof) if name.startswith("work")] == ["work 0", "work 1", "work 2"]


def test_the_program_changes_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prof = ranges(path="run.stepscope", on_trace_ready=tensorboard_trace_handler("traces"))
    (tmp_path / "elsewhere").mkdir()
    with prof, record_function("work"):
        os.chdir("elsewhere")
    assert names(prof) == ["work"]
    assert prof.recording_path == tmp_path / "run.stepscope"
    assert len(list((tmp_path / "traces").iterdir())) == 1


def test_a_path_that_another_profiler_took(tmp_path):
    first = recorded(ranges(path=tmp_path / "same.stepscope"), "first")
    second = recorded(ranges(path=tmp_path / "same.stepscope"), "second")
    with pytest.raises(ProfilerError, match="was replaced by a later recording"):
        first.events()
    assert names(second) == ["second"]


def test_a_folder_is_made_and_links_and_pipes_are_left(tmp_path):
    assert names(recorded(ranges(path=tmp_path / "new" / "runs" / "rank0.stepscope"), "work")) == ["work"]
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(stepscope.Error, match="exists and is not a recording"):
        ranges(path=pipe).start()
    with pytest.raises(stepscope.Error, match="is a link"):
        ranges(path=link).start()


def cycles(path, count):
    with ranges(path=path, schedule=schedule(wait=0, warmup=1, active=1, repeat=count)) as prof:
        for _ in range(2 * count):
            prof.step()


def test_the_cycles_of_a_process_are_no_ranks(tmp_path):
    other = tmp_path / "rank0.9.stepscope"
    recorded(ranges(path=other), "of nobody")
    with open(other, "r+b") as file:  # of another process
        file.seek(28)
        file.write((4_000_000).to_bytes(4, "little"))
    cycles(tmp_path / "rank0.stepscope", 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "rank0.2.stepscope", "rank0.3.stepscope", "rank0.9.stepscope", "rank0.stepscope"
    ]  # fmt: skip
    (read,) = stepscope.open(tmp_path).ranks  # of two runs of rank 0, the newer one
    assert read.path == str(tmp_path / "rank0.stepscope")
    cycles(tmp_path / "rank0.stepscope", 2)
    assert not (tmp_path / "rank0.3.stepscope").exists() and other.exists()


def test_results_are_copied():
    prof = recorded(ranges(), "a", "b", "a")
    table = prof.key_averages().table()
    for again in (copy.deepcopy(prof.key_averages()), pickle.loads(pickle.dumps(prof.key_averages()))):
        assert again.table() == table
    events = pickle.loads(pickle.dumps(prof.events()))
    assert [event.name for event in events] == ["a", "b", "a"] and len(events) == 3
    assert events.total_average().count == 3
    with pytest.raises(ProfilerError, match="copied events cannot be averaged again"):
        events.key_averages()


def test_a_stopped_recording_takes_what_it_holds(tmp_path):
    def mapped():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")

    before = mapped()
    for _ in range(20):
        prof = recorded(ranges(path=tmp_path / "run.stepscope", megabytes=512), "work")
    assert prof.recording_path.stat().st_size < 2 * MEGABYTE
    assert mapped() - before < 256 * MEGABYTE
    assert names(prof) == ["work"]


def test_what_killed_processes_left_goes_but_for_their_recordings(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    machine = _places.machine()
    other = "0" * 8 if machine != "0" * 8 else "1" * 8
    gone = [f"control-{ended.pid}-{machine}.sock", f"loader-{ended.pid}-{machine}", f"loader-{ended.pid}-{machine}.part"]
    kept = [
        f"control-{os.getpid()}-{machine}.sock",
        f"loader-{os.getppid()}-{machine}",
        f"loader-{ended.pid}-{other}",
        f"control-{ended.pid}.sock",
        f"host_{ended.pid}-{machine}.stepscope",
    ]
    for name in gone + kept:
        (tmp_path / name).symlink_to("/no/such/file")
    _places.sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_an_end_that_fails_at_exit_is_said(tmp_path, capsys):
    class Failing:
        pid = os.getpid()

        def stop(self):
            raise ProfilerError("the disk went away")

    _control.leave(tmp_path / "socket", Failing())
    assert capsys.readouterr().err == "stepscope: the disk went away; the end of the recording may be missing\n"
