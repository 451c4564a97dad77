"""Tables in other libraries: the same values, missing ones included, and the same memory."""

import ctypes
import gc
import json
import math

import pytest
import stepscope


def expected(report):
    """Title, column names and rows of each table in the JSON."""
    return [(t["title"], [c["name"] for c in t["columns"]], t["rows"]) for t in json.loads(report.to_json())["tables"]]


def plain(value):
    """The value; None if it is any library's missing value."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value


@pytest.fixture(scope="module")
def reports(one_rank, two_ranks):
    alone = [a.name for a in stepscope.analyses() if all(p.name != "id" for p in a.params)]
    return [trace.analyze(name) for trace in (one_rank, two_ranks) for name in alone]


@pytest.fixture
def steps(two_ranks):
    """A table with texts, integers and real numbers, and missing values of each."""
    return two_ranks.analyze("findings")[0]


def test_lists_are_the_rows_of_json(reports):
    for report in reports:
        for table, (title, names, rows) in zip(report, expected(report)):
            assert (table.title, [c.name for c in table.columns], len(table)) == (title, names, len(rows))
            assert [list(row.values()) for row in table] == rows


def test_some_of_each_kind_are_missing(reports):
    missing = {c.type for r in reports for t in r for c in t.columns if None in c.to_list()}
    assert missing == {"int64", "float64", "text"}


def test_pyarrow(reports):
    pyarrow = pytest.importorskip("pyarrow")
    for report in reports:
        for table, (_, _, rows) in zip(report, expected(report)):
            arrow = pyarrow.table(table)
            arrow.validate(full=True)
            assert [list(row.values()) for row in arrow.to_pylist()] == rows
            assert pyarrow.record_batch(table).num_rows == len(table)
            for field, column in zip(arrow.schema, table.columns):
                assert field.metadata == {b"unit": column.unit.encode(), b"role": column.role.encode()}
            assert arrow.schema.metadata == {b"title": table.title.encode(), b"shape": table.shape.encode()}


def test_pandas(reports):
    pandas = pytest.importorskip("pandas")
    types = {"int64": ("int64", "Int64"), "float64": ("float64",)}
    for report in reports:
        for table, (_, names, rows) in zip(report, expected(report)):
            frame = table.to_pandas()
            assert list(frame.columns) == names and len(frame) == len(rows)
            for at, column in enumerate(table.columns):
                values = [plain(value) for value in frame.iloc[:, at].tolist()]
                assert values == [row[at] for row in rows], column
                if column.type in types:
                    assert str(frame.dtypes.iloc[at]) in types[column.type]
                if column.type == "int64":
                    assert (str(frame.dtypes.iloc[at]) == "Int64") == (None in column.to_list())
    assert isinstance(frame, pandas.DataFrame) and frame.attrs["title"] == table.title


def test_pandas_owns_its_values(one_rank):
    pytest.importorskip("pandas")
    table = one_rank.analyze("kernels")[0]
    column = next(c for c in table.columns if c.type == "int64" and None not in c.to_list())
    before, frame = column.to_list(), table.to_pandas()
    frame.loc[0, column.name] = -5
    assert frame[column.name].tolist()[0] == -5 and column.to_list() == before


def test_pandas_over_arrow(one_rank):
    pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = one_rank.analyze("kernels")[0].to_pandas(dtype_backend="pyarrow")
    assert all("pyarrow" in str(dtype) for dtype in frame.dtypes)
    with pytest.raises(ValueError, match="dtype_backend"):
        one_rank.analyze("kernels")[0].to_pandas(dtype_backend="cudf")


def test_polars(reports):
    polars = pytest.importorskip("polars")
    for report in reports:
        for table, (_, names, rows) in zip(report, expected(report)):
            frame = polars.DataFrame(table)
            assert frame.columns == names
            assert [list(row) for row in frame.rows()] == rows


def test_duckdb(reports):
    duckdb = pytest.importorskip("duckdb")
    for report in reports[:12]:
        for answer, (_, _, rows) in zip(report, expected(report)):
            assert [list(row) for row in duckdb.sql("select * from answer").fetchall()] == rows


def test_nothing_is_copied(one_rank):
    pyarrow = pytest.importorskip("pyarrow")
    table = one_rank.analyze("kernels")[0]
    first, second = pyarrow.table(table), pyarrow.table(table)
    for column in table.columns:
        addresses = [[b.address if b else None for b in t[column.name].chunk(0).buffers()] for t in (first, second)]
        assert addresses[0] == addresses[1]
        if column.type != "text":
            assert addresses[0][1] == column._table.numbers(column._index).ctypes.data
            assert (addresses[0][0] is None) == (None not in column.to_list())
    pandas = pytest.importorskip("pandas")
    frame = table.to_pandas(dtype_backend="pyarrow")
    column = next(c for c in table.columns if c.type == "int64")
    assert pandas.array(frame[column.name])._pa_array.chunk(0).buffers()[1].address == first[column.name].chunk(0).buffers()[1].address


def test_polars_shares_the_memory(one_rank):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    table = one_rank.analyze("kernels")[0]
    column = next(c for c in table.columns if c.type == "int64")
    series = polars.DataFrame(table)[column.name]
    assert series.to_arrow().buffers()[1].address == pyarrow.table(table)[column.name].chunk(0).buffers()[1].address


def test_what_was_handed_out_outlives_everything(one_rank):
    pyarrow = pytest.importorskip("pyarrow")
    report = one_rank.analyze("kernels")
    rows = report[0].to_dicts()
    arrow, numbers = pyarrow.table(report[0]), report[0]["count"].to_numpy()
    del report
    gc.collect()
    assert arrow.to_pylist() == rows
    assert numbers.tolist() == [row["count"] for row in rows]


def test_capsules_may_be_dropped_unread(one_rank):
    table = one_rank.analyze("kernels")[0]
    for _ in range(100):
        table.__arrow_c_stream__(), table.__arrow_c_array__(), table.__arrow_c_schema__()
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    assert get_name(table.__arrow_c_stream__(requested_schema=None)) == b"arrow_array_stream"
    assert [get_name(c) for c in table.__arrow_c_array__()] == [b"arrow_schema", b"arrow_array"]


def test_numpy(reports):
    numpy = pytest.importorskip("numpy")
    for report in reports:
        for table in report:
            for column in table.columns:
                values = column.to_numpy()
                if column.type != "text" and len(table) > 0:
                    assert not values.flags.writeable or isinstance(values, numpy.ma.MaskedArray)
                assert [plain(v) for v in values.tolist()] == column.to_list()


def test_tables_are_found_by_title_and_place(one_rank):
    report = one_rank.analyze("idle")
    assert report[report[-1].title] is report[-1]
    assert list(report) == report.tables and len(report) == len(report.tables)
    table = report[0]
    assert table.columns[0].name in table and "nonsense" not in table
    assert table[table.columns[0].name] is table.columns[0]
    with pytest.raises(KeyError, match="there is no column 'nonsense'; the columns are"):
        table["nonsense"]
    with pytest.raises(KeyError, match="there is no table 'nonsense'; the tables are"):
        report["nonsense"]
