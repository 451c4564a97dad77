"""Overloads of operators, which are recorded with ``capture_overload_names``."""

import collections
import copy
import json
import pickle
import threading
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

import stepscope  # noqa: E402
import stepscope.profiler as sp  # noqa: E402
from parity_programs import CPU, mlp  # noqa: E402
from stepscope.profiler import ProfilerError, profile  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
ASKED = sp._ExperimentalConfig(capture_overload_names=True)
WANTED = {
    ("aten::add_", "Tensor"): 3,
    ("aten::mul", "Tensor"): 1,
    ("aten::pow", "Tensor_Scalar"): 2,
    ("aten::pow", "Tensor_Tensor"): 1,
    ("aten::sum", "dim_IntList"): 2,
    ("aten::sum", ""): 1,
    ("aten::relu", ""): 1,
}


def work():
    a = torch.ones(2, 3)
    for _ in range(3):
        a.add_(a)
    a * a
    a.pow(2), a.pow(3), a.pow(a)
    a.sum(0), a.sum(1), a.sum()
    torch.relu(a)


def tally(events):
    names = {name for name, _ in WANTED}
    return collections.Counter((event.name, event.overload_name) for event in events if event.name in names)


@pytest.fixture(scope="module")
def recorded():
    with profile(experimental_config=ASKED) as prof:
        work()
        with sp.record_function("a range.of mine"):
            pass
    return prof


def test_events_have_their_overload(recorded):
    assert tally(recorded.events()) == WANTED
    assert next(event for event in recorded.events() if event.name == "a range.of mine").overload_name == ""


def test_averages_are_by_overload_where_asked(recorded):
    by_overload = recorded.key_averages(group_by_overload_name=True)
    counts = {(average.key, average.overload_name): average.count for average in by_overload}
    assert {key: count for key, count in counts.items() if key in WANTED} == WANTED
    assert recorded.events().key_averages(group_by_overload_name=True).table() == by_overload.table()
    header = by_overload.table().splitlines()[1]
    assert header.split("  ")[0] != "Overload Name" and "Overload Name" in header
    plain = {average.key: average for average in recorded.key_averages()}
    assert (plain["aten::pow"].count, plain["aten::pow"].overload_name, plain["aten::sum"].count) == (3, "", 3)
    assert "Overload Name" not in recorded.key_averages().table()


def test_the_trace_names_them_as_pytorch_does(recorded, tmp_path):
    recorded.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = collections.Counter(event["name"] for event in events)
    # a.sum() calls an overload with dimensions; events() merges it into its parent, as an only child of the same name.
    for (name, overload), count in {**WANTED, ("aten::sum", "dim_IntList"): 3}.items():
        assert names[f"{name}.{overload}" if overload else name] == count
    assert names["a range.of mine"] == 1


def test_analyses_know_the_operators_by_their_names(recorded):
    trace = stepscope.open(recorded.recording_path)
    names = trace.analyze("operators").tables[0]["name"].to_list()
    assert {"aten::add_", "aten::pow"} < set(names) and not any("." in name for name in names if name.startswith("aten::"))


def test_copies_keep_them(recorded):
    by_overload = recorded.key_averages(group_by_overload_name=True)
    for copied in (pickle.loads(pickle.dumps(recorded.events())), copy.deepcopy(recorded.events())):
        assert tally(copied) == WANTED
    assert pickle.loads(pickle.dumps(by_overload)).table() == by_overload.table()


def test_nothing_is_told_unasked():
    for config in (None, sp._ExperimentalConfig(), sp._ExperimentalConfig(capture_overload_names=False)):
        with profile(experimental_config=config) as prof:
            work()
        assert {event.overload_name for event in prof.events()} == {""}
        assert prof.key_averages(group_by_overload_name=True).table() == prof.key_averages().table()


def test_asking_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        profile(experimental_config=ASKED)


def test_cycles_ask_each_for_itself():
    for asked in (True, False, True):
        with profile(experimental_config=ASKED if asked else None) as prof:
            work()
        assert (("aten::pow", "Tensor_Tensor") in tally(prof.events())) == asked


def test_every_segment_and_thread_tells_them_again():
    """60,000 ops take several segments."""

    def many():
        a = torch.ones(1)
        for _ in range(20_000):
            a.add_(a)
            a.sum(0)
            a.sum()

    with profile(experimental_config=ASKED) as prof:
        threads = [threading.Thread(target=many) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    counts = {(a.key, a.overload_name): a.count for a in prof.key_averages(group_by_overload_name=True)}
    assert [counts["aten::add_", "Tensor"], counts["aten::sum", "dim_IntList"], counts["aten::sum", ""]] == [40_000] * 3
    assert counts.keys() & {("aten::add_", ""), ("aten::add_", "Scalar")} == set()


def test_shapes_and_overloads_group_together():
    with profile(record_shapes=True, experimental_config=ASKED) as prof:
        for size in (2, 2, 3):
            torch.ones(size, 1).sum(0)
        torch.ones(2, 1).sum()
    averages = prof.key_averages(group_by_input_shape=True, group_by_overload_name=True)
    sums = {(a.overload_name, str(a.input_shapes[0])): a.count for a in averages if a.key == "aten::sum"}
    assert sums == {("dim_IntList", "[2, 1]"): 2, ("dim_IntList", "[3, 1]"): 1, ("", "[2, 1]"): 1}


def pytorchs_config():
    config = getattr(torch._C._profiler, "_ExperimentalConfig", None)
    try:
        return config(capture_overload_names=True)
    except TypeError:
        pytest.skip(f"PyTorch {torch.__version__} has no overloads in its profiler")


def test_pytorchs_own_object_asks_too():
    asked = pytorchs_config()
    for config, want in ((asked, True), (type(asked)(), False), (type(asked)(verbose=True), False)):
        with profile(experimental_config=config) as prof:
            work()
        assert (("aten::pow", "Tensor_Tensor") in tally(prof.events())) == want


@pytest.mark.parametrize("program", [lambda: mlp()[0], lambda: work])
def test_parity(program, tmp_path):
    asked, step = pytorchs_config(), program()
    for _ in range(2):
        step()
    with profile(experimental_config=ASKED) as ours:
        step()
    with torch.profiler.profile(activities=CPU, experimental_config=asked) as theirs:
        step()

    def all_of(prof):
        return collections.Counter((event.name, event.overload_name) for event in prof.events())

    def grouped(prof):
        return {(a.key, a.overload_name): a.count for a in prof.key_averages(group_by_overload_name=True)}

    def names(prof, path):
        prof.export_chrome_trace(str(path))
        return collections.Counter(e["name"] for e in json.loads(path.read_text())["traceEvents"] if e.get("cat") == "cpu_op")

    assert all_of(ours) == all_of(theirs) and grouped(ours) == grouped(theirs)
    assert names(ours, tmp_path / "ours.json") == names(theirs, tmp_path / "theirs.json")
    titles = [prof.key_averages(group_by_overload_name=True).table().splitlines()[1].split() for prof in (ours, theirs)]
    assert titles[0] == titles[1]
    assert sum(count for (_, overload), count in all_of(ours).items() if overload) > 5


def test_the_depth_of_stacks_is_a_number(recorded):
    for average in (recorded.key_averages, recorded.events().key_averages):
        with pytest.raises(ProfilerError, match="group_by_stack_n must be a number of stack entries, 0 for none, not 'x'"):
            average(group_by_stack_n="x")
        assert average(1).table() == average(True).table()
