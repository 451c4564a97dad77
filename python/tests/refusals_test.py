"""Wrong values are refused with a sentence that says what would be right."""

import copy
import io
import shutil

import pytest
import stepscope
from program import SAMPLES, said

TRACE = "examples/samples/generated_slow_input.json.gz"
FAST = SAMPLES / "mlp_two_workers.pt.trace.json.gz"


@pytest.mark.parametrize("ask, sentence", [
    (lambda t: stepscope.diff("a.json", "x.json"), "diff needs traces, not paths: stepscope.open('a.json') gives one"),
    (lambda t: stepscope.diff(t, None), "diff needs traces, not None"),
    (lambda t: t.gate("b.json"), "gate needs traces, not paths: stepscope.open('b.json') gives one"),
    (lambda t: t.gate([t.report()]), "gate needs traces, not an object of type Page"),
    (lambda t: stepscope.gate(None, t), "gate needs traces, not None"),
    (lambda t: t.gate(t, fail_on=5), "fail_on must be a text, not 5"),
    (lambda t: t.gate(t, allow_noise=[1]), "allow_noise must be a text or a number, not an object of type list"),
    (lambda t: t.events(rank="1"), "rank must be a whole number, not '1'"),
    (lambda t: t.events(rank=1.0), "rank must be a whole number, not 1.0"),
    (lambda t: t.events(rank=2**70), f"rank must be a whole number, not {2**70}"),
    (lambda t: t.events(name=5), "name must be a text, not 5"),
    (lambda t: t.events(name=["gemm"]), "name must be a text, not an object of type list"),
    (lambda t: t.events(kind=5), "kind must be a text, not 5"),
    (lambda t: t.events(kind=b"op"), "kind must be a text, not 111"),
    (lambda t: t.events(args=1), "args must be True or False, not 1"),
    (lambda t: t.analyze(None), "the name of an analysis must be a text, not None"),
    (lambda t: t.explain(7), "rule must be a text, not 7"),
    (lambda t: stepscope.explain(None), "rule must be a text, not None"),
    (lambda t: t.sql(7), "the query must be a text, not 7"),
    (lambda t: t.validate(strict="yes"), "strict must be True or False, not 'yes'"),
    (lambda t: t.export("x.csv", format=7), "format must be a text, not 7"),
    (lambda t: t.export("x.csv", what=7), "what must be a text, not 7"),
    (lambda t: t.overlay("x.json", rank="0"), "rank must be a whole number, not '0'"),
    (lambda t: t.overlay("x.json", what=[7]), "what must be a text, not 7"),
    (lambda t: t.show(5), "view must be a text, not 5"),
    (lambda t: t.show(height="80%"), "height must be a whole number, not '80%'"),
    (lambda t: t.analyze("kernels")[0].head("a"), "rows must be a whole number, not 'a'"),
    (lambda t: stepscope.open(TRACE, threads="2"), "threads must be a whole number, not '2'"),
    (lambda t: stepscope.open(TRACE, run=1.0), "run must be a whole number, not 1.0"),
    (lambda t: stepscope.open(io.BytesIO()), "a path is needed, not a file object: write it to a file and give the file's name"),
    (lambda t: stepscope.merge([TRACE], "x.json", run="1"), "run must be a whole number, not '1'"),
    (lambda t: stepscope.merge([TRACE], "x.json", align="no"), "align must be True or False, not 'no'"),
])
def test_values_of_the_wrong_type(one_rank, ask, sentence):
    with pytest.raises(TypeError) as raised:
        ask(one_rank)
    assert str(raised.value) == sentence


@pytest.mark.parametrize("ask, sentence", [
    (lambda t: t.show(height=-3), "height is in pixels and must be above 0, not -3"),
    (lambda t: t.gate(t, fail_on=[]), "fail_on needs a limit, such as 'step.total>5%'; without one, every recording would pass"),
    (lambda t: t.gate(t, fail_on=""), "fail_on needs a limit"),
    (lambda t: t.overlay("x.json", what=[]), "what is empty, so nothing would be drawn"),
    (lambda t: t.events(step=""), "step needs a number"),
    (lambda t: t.show.whatif(scale="data_laoding=0"), "scale: 'data_laoding' is not one of data_loading, "),
])
def test_values_that_make_no_sense(one_rank, ask, sentence):
    with pytest.raises(stepscope.UsageError) as raised:
        ask(one_rank)
    assert str(raised.value).startswith(sentence)


def test_a_misspelt_change_has_a_suggestion(one_rank):
    with pytest.raises(stepscope.UsageError, match="Did you mean 'data_loading'\\?"):
        one_rank.show.whatif(scale=["compute=0", "data_laoding=0"])
    for command in (["whatif", TRACE], ["show", "whatif", TRACE]):
        code, _, problem = said(*command, "--scale", "data_laoding=0")
        assert code == 2 and "Did you mean 'data_loading'?" in problem


@pytest.mark.parametrize("steps", [[2, 3], (2, 3), range(2, 4), "2-3"])
def test_steps_may_be_a_list(one_rank, steps):
    assert one_rank.analyze("kernels", step=steps).to_json() == one_rank.analyze("kernels", step="2-3").to_json()
    assert one_rank.events(step=steps).to_dicts() == one_rank.events(step="2-3").to_dicts()
    assert one_rank.analyze("kernels", step=[2]).to_json() == one_rank.analyze("kernels", step=2).to_json()


def test_steps_may_be_numpys(one_rank):
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    for steps in (numpy.array([2, 3]), pandas.Series([2, 3]), numpy.arange(2, 4)):
        assert one_rank.analyze("steps", step=steps).to_json() == one_rank.analyze("steps", step="2-3").to_json()


@pytest.mark.parametrize("steps, error", [([3, 5], ValueError), ((3, 1), ValueError), ([], ValueError), ({3}, TypeError), (b"3", TypeError),
                                          (["3"], ValueError), (range(1, 9, 2), ValueError), ([True, object()], ValueError)])
def test_steps_with_gaps_are_refused(one_rank, steps, error):
    for ask in (one_rank.report, lambda step: one_rank.analyze("kernels", step=step), lambda step: one_rank.events(step=step)):
        with pytest.raises(error, match=r"step needs a number, or consecutive ones as range\(3, 6\), \[3, 4, 5\] or '3-5', not "):
            ask(step=steps)


def test_no_rank_and_no_kind_choose_no_event(two_ranks):
    for keywords in ({"rank": []}, {"kind": []}, {"rank": (), "kind": "op"}):
        assert len(two_ranks.events(**keywords)) == 0
    assert len(two_ranks.events(rank=None, kind=None)) == len(two_ranks.events()) > 0


def test_one_recording_is_no_two_runs(one_rank, tmp_path):
    again = stepscope.open(FAST)
    shutil.copy(FAST, tmp_path / FAST.name)
    (tmp_path / "link.json.gz").symlink_to(FAST)
    trace, copied, linked = stepscope.open(FAST), stepscope.open(tmp_path / FAST.name), stepscope.open(tmp_path / "link.json.gz")
    for runs in ([trace, trace], [trace, again], [again, linked]):
        for sides in ((runs, [one_rank]), ([one_rank], runs)):
            with pytest.raises(stepscope.UsageError, match="is given twice for one side; each run needs a recording of its own"):
                stepscope.gate(*sides)
    assert stepscope.gate([trace, copied], [again]).outcome in ("pass", "inconclusive")


def test_a_decision_is_its_outcome(one_rank, tmp_path):
    slow, fast = stepscope.open(SAMPLES / "mlp_loader_in_main.pt.trace.json.gz"), stepscope.open(FAST)
    for gate in (slow.gate(fast), fast.gate(slow), one_rank.gate(one_rank)):
        assert bool(gate) is gate.passed
    assert fast.gate(slow).outcome == "regression" and not fast.gate(slow)
    assert one_rank.validate()
    (tmp_path / "cut.json").write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}')
    with pytest.warns(UserWarning, match="the file ends early"):
        cut = stepscope.open(tmp_path / "cut.json")
    assert not cut.validate() and not cut.validate().fine


def test_a_name_of_a_limit_is_exact(one_rank):
    name = min(row["name"] for row in one_rank.analyze("kernels")[0] if "gemm" in row["name"])
    gate = one_rank.gate(stepscope.open(SAMPLES / "generated_healthy.json.gz"), fail_on="kernels.total[gemm]>3%")
    assert not gate and f"no row 'gemm' in \"Kernels by name\"; a name must be exact, e.g. '{name}'" in gate["Checks"]["reason"][0]


def test_copies_of_a_trace_are_the_trace(one_rank):
    assert copy.copy(one_rank) is one_rank and copy.deepcopy(one_rank) is one_rank


def test_patterns_are_not_expanded(tmp_path):
    for ask in (lambda path: stepscope.open(path), lambda path: stepscope.open(path, by_rank=True),
                lambda path: stepscope.merge([path], tmp_path / "x.json")):
        with pytest.raises(FileNotFoundError, match=r"a pattern is not expanded: give what glob.glob\(\) finds"):
            ask(tmp_path / "*.json")
