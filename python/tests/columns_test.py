"""Columns, tables and reports behave as users of numpy and pandas expect."""

import copy
import pickle

import pytest
import stepscope


@pytest.fixture(scope="module")
def kernels(one_rank):
    return one_rank.analyze("kernels")[0]


@pytest.fixture(scope="module")
def partial(two_ranks):
    """Columns of each type with missing values."""
    found = {c.type: c for r in ("findings", "operators", "steps", "idle", "kernels", "events") if r != "events"
             for t in two_ranks.analyze(r) for c in t.columns if None in c.to_list() and any(v is not None for v in c)}
    found["int64"] = next(c for c in two_ranks.events().columns if c.name == "launch")
    return found


def test_a_value_a_slice_a_list_and_a_mask(kernels):
    numpy = pytest.importorskip("numpy")
    total = kernels["total"]
    values = total.to_list()
    assert total[0] == values[0] and total[-1] == values[-1] and total[numpy.int64(1)] == values[1]
    assert isinstance(total[0], int) and isinstance(kernels["name"][0], str)
    assert total[1:3].tolist() == values[1:3] and total[::-1].tolist() == values[::-1]
    assert total[[2, 0]].tolist() == [values[2], values[0]]
    assert total[total > values[2]].tolist() == [v for v in values if v > values[2]]
    assert kernels["name"][:2].tolist() == kernels["name"].to_list()[:2]
    with pytest.raises(IndexError):
        total[len(total)]


def test_arithmetic_is_numpys(kernels):
    numpy = pytest.importorskip("numpy")
    total, count = kernels["total"], kernels["count"]
    a, b = numpy.array(total.to_list()), numpy.array(count.to_list())
    for ours, theirs in ((total / count, a / b), (total + 1, a + 1), (1 - total, 1 - a), (total // 1000, a // 1000), (2 * total, 2 * a),
                         (total % 7, a % 7), (-total, -a), (abs(total), a), (total**2, a**2), (1000 / total, 1000 / a), (b * total, a * b)):
        assert isinstance(ours, numpy.ndarray) and (ours == theirs).all()
    assert ((kernels["name"] == kernels["name"][0]) == [True] + [False] * (len(total) - 1)).all()
    assert (total >= count).all() and not (total < count).any() and (total != count).any() and (total <= total).all()
    assert numpy.sum(total) == sum(total) and numpy.asarray(total, dtype="float32").dtype == "float32"
    assert numpy.array(total, copy=True).flags.writeable


def test_missing_values_are_masked_or_nan(partial):
    numpy = pytest.importorskip("numpy")
    column = partial["int64"]
    at = column.to_list().index(None)
    assert column[at] is None
    assert numpy.ma.is_masked((column + 1)[at]) and numpy.isnan(numpy.asarray(column)[at])
    known = [v for v in column if v is not None]
    assert (column + 0).sum() == sum(known) and numpy.nanmax(column) == max(known)
    assert partial["text"][partial["text"].to_list().index(None)] is None


def test_what_is_in_columns_tables_and_reports(one_rank, kernels):
    assert kernels["name"][0] in kernels["name"] and "no kernel" not in kernels["name"]
    assert "name" in kernels and "colour" not in kernels
    assert kernels.title in one_rank.analyze("kernels") and "Colours" not in one_rank.analyze("kernels")


def test_the_head_of_a_table(kernels):
    for rows in (0, 1, 5, 10**6):
        assert kernels.head(rows).to_dicts() == kernels.to_dicts()[:rows]
    assert len(kernels.head()) == min(5, len(kernels)) and kernels.head().title == kernels.title
    with pytest.raises(ValueError, match="rows must not be negative"):
        kernels.head(-1)


def test_frames_of_columns_and_reports(one_rank, kernels):
    pandas = pytest.importorskip("pandas")
    report = one_rank.analyze("idle")
    pandas.testing.assert_frame_equal(report.to_pandas(), report[0].to_pandas())
    pandas.testing.assert_frame_equal(report.to_pandas(report[1].title), report[1].to_pandas())
    series = kernels["name"].to_pandas()
    pandas.testing.assert_series_equal(series, kernels.to_pandas()["name"])


def test_frames_with_missing_texts_have_pandas_own_type(partial):
    pandas = pytest.importorskip("pandas")
    column = partial["text"]
    series = column.to_pandas()
    assert series.dtype == pandas.Series(["a", None]).dtype
    assert [None if pandas.isna(v) else v for v in series] == column.to_list()


def things(trace):
    return [trace.analyze("kernels"), trace.analyze("kernels")[0], trace.analyze("kernels")[0]["name"],
            trace.analyze("findings"), trace.report(), trace.validate(), trace.gate(trace), trace.explain("I01"), trace.events()]


@pytest.mark.parametrize("at", range(9))
def test_pickles_and_copies_say_the_same(one_rank, at):
    thing = things(one_rank)[at]
    for again in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing), copy.copy(thing)):
        assert type(again) is type(thing) and str(again) == str(thing) and repr(again) == repr(thing)
        without_recording = isinstance(thing, stepscope.Page) and again is not thing
        for to in ("to_json", "to_html", "to_csv", "to_list"):
            if hasattr(thing, to) and not (to == "to_html" and without_recording):
                assert getattr(again, to)() == getattr(thing, to)(), to


def test_a_pickled_page_is_written_without_its_timeline(one_rank):
    page = one_rank.report()
    again = pickle.loads(pickle.dumps(page))
    headline = page.verdict[0]["headline"].split(".")[0]
    assert headline in page.to_html() and headline in again.to_html()
    assert "<script" in page.to_html() and "<script" not in again.to_html()
    with pytest.raises(stepscope.UsageError, match="redact the original"):
        again.to_html(redact="paths")


def test_pickles_of_others_are_refused(one_rank):
    state = one_rank.analyze("findings")._core.state()
    kinds = (stepscope._core.Report, stepscope._core.Table, stepscope._core.Page)
    for kind in kinds[1:]:
        with pytest.raises(stepscope.UsageError, match="not pickled by stepscope"):
            kind.restored(state)
    for end in (0, 1, 30, len(state) // 2, len(state) - 1):
        with pytest.raises(stepscope.UsageError, match="not pickled by stepscope"):
            kinds[0].restored(state[:end])
    with pytest.raises(stepscope.UsageError, match="not pickled by stepscope"):
        kinds[0].restored(state + b"x")


def test_damaged_pickles_never_crash(one_rank):
    state = bytearray(one_rank.analyze("findings")._core.state())
    refused = 0
    for at in range(0, len(state), max(1, len(state) // 400)):
        damaged = state.copy()
        damaged[at] ^= 0xFF
        try:
            report = stepscope._core.Report.restored(bytes(damaged))
            report.text(100, 0), report.json(), report.html()
        except (stepscope.UsageError, UnicodeDecodeError):
            refused += 1
    assert refused > 0


def test_a_trace_is_copied_but_not_pickled(one_rank):
    assert copy.deepcopy(one_rank) is one_rank
    with pytest.raises(TypeError, match="pickle its reports and tables"):
        pickle.dumps(one_rank)
