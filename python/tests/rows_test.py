"""Rows and columns of a table are chosen as in numpy and pandas."""

import copy
import pickle

import pytest
import stepscope


@pytest.fixture(scope="module")
def kernels(one_rank):
    return one_rank.analyze("kernels")[0]


def test_a_row(kernels):
    rows = kernels.to_dicts()
    assert kernels[0] == rows[0] and kernels[-1] == rows[-1]
    with pytest.raises(IndexError):
        kernels[len(kernels)]
    with pytest.raises(IndexError):
        kernels[[0, len(kernels)]]


def test_rows(kernels):
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    rows = kernels.to_dicts()
    large = kernels["total"] > rows[2]["total"]
    for which, wanted in ((slice(2), rows[:2]), (slice(None, None, -2), rows[::-2]), (slice(9, 3), []), ([2, 0], [rows[2], rows[0]]), ([], []),
                          (numpy.array([1]), rows[1:2]), (large, rows[:2]), (list(large), rows[:2]), (pandas.Series(large), rows[:2]),
                          (large & False, [])):
        chosen = kernels[which]
        assert isinstance(chosen, stepscope.Table) and chosen.to_dicts() == wanted
        assert [c.unit for c in chosen.columns] == [c.unit for c in kernels.columns] and chosen.title == kernels.title
    assert len(kernels[:2].to_pandas()) == len(pickle.loads(pickle.dumps(kernels[:2]))) == 2 and str(kernels[:2])
    assert copy.copy(kernels[:2]).to_csv() == kernels.head(2).to_csv()


def test_missing_values_are_not_chosen(two_ranks):
    pytest.importorskip("numpy")
    events = two_ranks.events()
    launched = events[events["launch"] >= 0]
    assert len(launched) == sum(value is not None for value in events["launch"]) > 0


def test_columns(kernels):
    chosen = kernels[["total", "name"]]
    assert [c.name for c in chosen.columns] == ["total", "name"] and chosen["name"].to_list() == kernels["name"].to_list()
    assert [c.role for c in chosen.columns] == [kernels["total"].role, kernels["name"].role]
    with pytest.raises(KeyError, match="there is no column 'colour'"):
        kernels[["name", "colour"]]


@pytest.mark.parametrize("which", [1.5, None, [True], ["a", 1], {"a": 1}, [[0, 1]], object()])
def test_what_cannot_be_chosen_is_said(kernels, which):
    with pytest.raises(TypeError, match=r"a mask of its \d+ rows, or a list of names or numbers; to_pandas\(\) gives a data frame for more"):
        kernels[which]
