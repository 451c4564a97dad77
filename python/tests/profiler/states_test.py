"""When a profiler prepares, starts and stops, and its errors when misused. Nothing here needs PyTorch."""

import os
import warnings

import pytest

import stepscope
import stepscope.profiler as sp
from stepscope.profiler import ProfilerAction, ProfilerError, profile, schedule

NONE, WARMUP, RECORD, SAVE, DEVICE_STOPPED = ProfilerAction
EXIT = None

# The actions of torch.profiler: P prepares, S starts, T stops, R calls on_trace_ready, w warns.
TABLE = {
    NONE: {NONE: "", WARMUP: "P", RECORD: "PS", SAVE: "PS", EXIT: ""},
    WARMUP: {NONE: "wST", WARMUP: "", RECORD: "S", SAVE: "S", EXIT: "ST"},
    RECORD: {NONE: "wT", WARMUP: "wT", RECORD: "", SAVE: "", EXIT: "TR"},
    SAVE: {NONE: "TR", WARMUP: "TRP", RECORD: "TRPS", SAVE: "TRPS", EXIT: "TR"},
}


class Noted(profile):
    """Records the actions instead of performing them."""

    def __init__(self, actions, **others):
        self.done = ""
        super().__init__(activities=[], schedule=lambda step: actions[min(step, len(actions) - 1)], **others)

    def prepare_trace(self):
        self.done += "P"
        self._on = Ours()

    def start_trace(self):
        self.done += "S"

    def stop_trace(self):
        self.done += "T"
        self._on = None

    def _trace_ready(self):
        self.done += "R"


class Ours:
    is_foreign = False


@pytest.mark.parametrize("after", [*TABLE, EXIT])
@pytest.mark.parametrize("before", list(TABLE))
def test_every_transition(before, after):
    prof = Noted([before, after])
    prof.start()
    prof.done = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prof.stop() if after is EXIT else prof.step()
    assert prof.done == TABLE[before][after].replace("w", "")
    assert len(caught) == ("w" in TABLE[before][after])


@pytest.mark.parametrize("action", list(TABLE))
def test_the_first_action(action):
    prof = Noted([action])
    prof.start()
    assert prof.done == TABLE[NONE][action]


def test_a_schedule_of_another_module_serves():
    import enum

    other = enum.Enum("ProfilerAction", {"NONE": 10, "RECORD_AND_SAVE": 13})
    prof = Noted([other.NONE, other.RECORD_AND_SAVE])
    prof.start()
    prof.step()
    assert prof.current_action is SAVE and prof.done == "PS"
    with pytest.raises(ProfilerError, match="must return a ProfilerAction"):
        Noted(["RECORD"])
    with pytest.raises(ValueError, match="which only PyTorch's profiler may set"):
        Noted([DEVICE_STOPPED])


def shape_of(steps, **named):
    action = schedule(**named)
    return "".join({NONE: ".", WARMUP: "w", RECORD: "r", SAVE: "S"}[action(step)] for step in range(steps))


@pytest.mark.parametrize(
    ("named", "shape"),
    [
        ({"wait": 1, "warmup": 1, "active": 2}, ".wrS.wrS.wrS"),
        ({"wait": 1, "warmup": 1, "active": 2, "repeat": 2}, ".wrS.wrS...."),
        ({"wait": 1, "warmup": 1, "active": 1, "skip_first": 3, "repeat": 1}, "....wS......"),
        ({"wait": 2, "warmup": 1, "active": 1, "skip_first": 1, "skip_first_wait": 1, "repeat": 2}, ".wS..wS....."[:12]),
        ({"wait": 0, "warmup": 1, "active": 3}, "wrrSwrrSwrrS"),
    ],
)
def test_schedules(named, shape):
    if named.get("skip_first_wait"):
        shape = ".wS..wS....."  # two cycles; the first skips its two idle steps
    assert shape_of(12, **named) == shape


def test_schedules_that_make_no_sense():
    with pytest.raises(ValueError, match="active=0"):
        schedule(wait=1, warmup=1, active=0)
    with pytest.raises(ValueError, match="wait=-1"):
        schedule(wait=-1, warmup=1, active=1)
    with pytest.warns(UserWarning, match="warmup"):
        schedule(wait=1, warmup=0, active=1)


def test_traces_come_in_the_callers_thread_and_only_when_they_are_whole(tmp_path):
    seen = []

    def ready(prof):
        seen.append((prof.step_num, [event.trace_name for event in prof.events()]))

    plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    with profile(activities=[], schedule=plan, on_trace_ready=ready) as prof:
        for _ in range(6):
            with sp.record_function("work"):
                pass
            prof.step()
    assert seen == [(4, ["ProfilerStep#2", "work", "ProfilerStep#3", "work"])]
    assert [average.key for average in prof.key_averages()] == ["ProfilerStep*", "work"]


def test_leaving_in_the_middle():
    def leave_after(steps):
        seen = []
        with profile(activities=[], schedule=schedule(wait=1, warmup=1, active=3), on_trace_ready=seen.append) as prof:
            for _ in range(steps):
                prof.step()
        return len(seen)

    assert [leave_after(steps) for steps in range(6)] == [0, 0, 1, 1, 1, 1]


def test_a_schedule_that_leaves_a_recording_goes_on():
    plan = [RECORD, WARMUP, RECORD, SAVE, NONE]
    seen = []
    prof = profile(activities=[], schedule=lambda step: plan[min(step, 4)], on_trace_ready=lambda p: seen.append(len(p.events())))
    prof.start()
    with pytest.warns(UserWarning, match="RECORD to WARMUP"):
        prof.step()
    for _ in range(3):
        prof.step()
    prof.stop()
    assert seen == [2]


def misused():
    yield "step() was called on a profiler that is not on", lambda: profile(activities=[]).step()
    yield "stop() was called on a profiler that is not on", lambda: profile(activities=[]).stop()
    yield "before anything was recorded", lambda: profile(activities=[]).events()
    yield "before anything was recorded", lambda: profile(activities=[]).key_averages()
    yield "before anything was recorded", lambda: profile(activities=[]).export_chrome_trace("never.json")
    yield "needs stacks", lambda: profile(activities=[]).export_stacks("never.txt")
    yield "which samples do not have", lambda: profile(activities=[], with_stack="sampled").export_stacks("never.txt")
    yield "must be an _ExperimentalConfig, not 3", lambda: profile(activities=[], experimental_config=3)
    yield "needs memory", lambda: profile(activities=[]).export_memory_timeline("never.html")
    yield "start_trace() was called on a profiler that is not on", lambda: sp._KinetoProfile(activities=[]).start_trace()
    yield "no backend 'cupti'", lambda: profile(backend="cupti")
    yield "with_stack must be True, False", lambda: profile(with_stack="always")
    yield "from 1 to 1048576", lambda: profile(megabytes=0)
    yield "is not JSON", lambda: profile(activities=[]).add_metadata_json("a", "{")
    yield "is not JSON", lambda: profile(activities=[]).preset_metadata_json("a", "[NaN]")
    yield "without '='", lambda: profile(activities=[]).add_metadata("a=b", "c")


@pytest.mark.parametrize(("sentence", "misuse"), list(misused()))
def test_wrong_use_is_one_sentence_and_the_next_profiler_starts(sentence, misuse):
    with pytest.raises(ProfilerError) as error:
        misuse()
    assert sentence in str(error.value) and "\n" not in str(error.value)
    assert isinstance(error.value, RuntimeError)
    with profile(activities=[]) as prof:
        pass
    assert len(prof.events()) == 0


def test_results_are_not_there_while_it_records():
    with profile(activities=[]) as prof:
        with pytest.raises(ProfilerError, match="while the profiler records; stop it first"):
            prof.key_averages()
        with pytest.raises(ProfilerError, match="already started"):
            prof.start()
    prof.key_averages()
    with pytest.raises(ProfilerError, match="not on"):
        prof.stop()


def test_of_two_profilers_the_first_goes_on():
    with profile(activities=[]) as first:
        second = profile(activities=[])
        with pytest.raises(ProfilerError, match="another profiler is recording"):
            second.start()
        with sp.record_function("kept"):
            pass
    assert [event.name for event in first.events()] == ["kept"]
    with second:
        pass


def test_an_error_of_the_handler_leaves_nothing_open():
    def broken(prof):
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        with profile(activities=[], on_trace_ready=broken) as prof:
            pass
    assert len(prof.events()) == 0
    with profile(activities=[]):
        pass


def test_a_profiler_that_nobody_holds_gives_way(capfd):
    profile(activities=[]).start()
    with profile(activities=[]):
        pass
    text = capfd.readouterr().err
    assert "was never stopped; its recording is in " in text
    os.unlink(text.split(" is in ")[1].strip())


def in_a_child(work):
    """The result or error of ``work`` in a forked child, which ends with os._exit."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = repr(work())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def test_a_forked_child_has_no_part_in_its_parents_recording():
    def own():
        with profile(activities=[]) as mine:
            with sp.record_function("child"):
                pass
        return [event.name for event in mine.events()]

    def leave():
        prof.__exit__(None, None, None)
        return "left"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads warns from 3.12 on
        with profile(activities=[]) as prof:
            with sp.record_function("parent"):
                pass
            assert in_a_child(prof.stop).startswith("ProfilerError: stop() in a forked child")
            assert in_a_child(prof.events).startswith("NoResultsError: events() in a forked child")
            assert in_a_child(prof.step).startswith("ProfilerError: step() in a forked child")
            assert in_a_child(own) == "['child']"
            assert in_a_child(leave) == "'left'"
    with pytest.warns(UserWarning, match="what 5 forked child processes did is not recorded"):
        assert [event.name for event in prof.events()] == ["parent"]


def test_activities():
    assert profile().activities == {sp.ProfilerActivity.CPU}
    with pytest.warns(UserWarning, match="CUDA events are not recorded here"):
        profile(activities=[sp.ProfilerActivity.CPU, sp.ProfilerActivity.CUDA])
    with pytest.raises(TypeError, match="is not an activity"):
        profile(activities=["CPU"])
    with pytest.raises(ValueError, match="twice"):
        profile(activities=[sp.ProfilerActivity.CPU, sp.ProfilerActivity.CPU])


@pytest.mark.parametrize("name", ["record_shapes", "profile_memory", "with_flops", "with_modules", "acc_events"])
def test_what_is_on_or_off_is_no_text(name):
    for value in (True, False, 1, 0, None):
        profile(activities=[], **{name: value})
    for value in ("no", "", [True]):
        with pytest.raises(ProfilerError, match=f"{name} must be True or False, not "):
            profile(activities=[], **{name: value})


def test_properties_are_not_there_before_there_are_results():
    prof = profile(activities=[])
    for name in ("recording_path", "function_events", "self_cpu_time_total"):
        assert not hasattr(prof, name) and getattr(prof, name, None) is None
        with pytest.raises(ProfilerError, match="before anything was recorded"):
            getattr(prof, name)
    with prof:
        assert not hasattr(prof, "recording_path")
    assert prof.recording_path.exists() and prof.function_events == []


def test_options_that_change_nothing_are_named_once():
    with pytest.warns(UserWarning, match="effect: performance_events, trace_only$") as caught:
        profile(experimental_config=sp._ExperimentalConfig(verbose=True, performance_events=["cycles"], record_python_gc_info=True, trace_only=True))
    assert len(caught) == 1
    with pytest.raises(TypeError, match="speed"):
        sp._ExperimentalConfig(speed=9)


class Observer:
    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda: self.calls.append(name)


def test_an_execution_trace_observer_is_on_for_as_long_as_the_recording():
    observer = Observer()
    with profile(activities=[], execution_trace_observer=observer):
        assert observer.calls == ["start"]
    assert observer.calls == ["start", "stop", "cleanup"]


def test_what_cannot_be_called_is_refused_at_once():
    with pytest.raises(ProfilerError, match="on_trace_ready must be a function that takes the profiler, not 'tb'"):
        profile(activities=[], on_trace_ready="tb")
    with pytest.raises(ProfilerError, match=r"an object with start\(\), stop\(\) and cleanup\(\), not 3"):
        profile(activities=[], execution_trace_observer=3)


def test_a_trace_goes_to_a_file_that_can_be_written(capfd):
    with profile(activities=[]) as prof:
        pass
    with pytest.raises(ProfilerError, match="names no file"):
        prof.export_chrome_trace("")
    with pytest.raises(stepscope.Error, match="/no/such/dir/a.json: cannot be written: No such file or directory; choose another place$"):
        prof.export_chrome_trace("/no/such/dir/a.json")
    assert capfd.readouterr().out == ""
