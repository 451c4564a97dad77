"""Events as tables, SQL, exports, validation, merging, gates and explanations: as on the command line."""

import csv
import gzip
import io
import json
import os
import sqlite3
import statistics
import threading

import pytest
import stepscope

from program import ROOT, SAMPLES, said

TRACE = "examples/samples/generated_slow_input.json.gz"
RANKS = "examples/samples/generated_exposed_comm"


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_events_are_those_that_export_writes(two_ranks):
    written = rows_of(said("export", RANKS, "--format", "csv")[1])
    table = two_ranks.events(args=True)
    assert [c.name for c in table.columns] == list(written[0])
    assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in table] == written
    assert "args" not in two_ranks.events()


def test_times_are_whole_nanoseconds(one_rank):
    events = one_rank.events()
    for name in ("start_ns", "end_ns", "duration_ns"):
        assert events[name].type == "int64" and all(isinstance(value, int) for value in events[name])
    assert (events["end_ns"] - events["start_ns"] == events["duration_ns"]).all()


@pytest.mark.parametrize("keywords, keeps", [
    ({"rank": 1}, lambda e: e["rank"] == 1),
    ({"rank": [0, 1]}, lambda e: True),
    ({"kind": "kernel"}, lambda e: e["kind"] == "kernel"),
    ({"kind": ["op", "runtime"]}, lambda e: e["kind"] in ("op", "runtime")),
    ({"step": 2}, lambda e: e["step"] == 2),
    ({"step": range(2, 4)}, lambda e: e["step"] in (2, 3)),
    ({"step": "2-3", "kind": "kernel", "rank": 0, "name": "gemm"},
     lambda e: e["step"] in (2, 3) and e["kind"] == "kernel" and e["rank"] == 0 and "gemm" in e["name"]),
    ({"name": "no event has this name"}, lambda e: False),
])
def test_filters(two_ranks, keywords, keeps):
    assert two_ranks.events(**keywords).to_dicts() == [e for e in two_ranks.events().to_dicts() if keeps(e)]


@pytest.mark.parametrize("keywords, sentence", [
    ({"kind": "kernl"}, "there is no kind 'kernl'. Did you mean 'kernel'?"),
    ({"rank": 7}, "rank 7 is not among the ranks of this trace: 0, 1"),
    ({"step": 99}, "The trace has no step 99"),
    ({"step": "two"}, "step needs a number"),
])
def test_filters_that_choose_nothing_that_is_there(two_ranks, keywords, sentence):
    with pytest.raises(stepscope.UsageError) as raised:
        two_ranks.events(**keywords)
    assert str(raised.value).startswith(sentence)


def test_one_rank_of_an_answer(two_ranks):
    for name in ("kernels", "steps", "idle", "collectives", "launches", "overview"):
        whole, one = two_ranks.analyze(name), two_ranks.analyze(name, rank=1)
        for all_rows, its in zip(whole, one):
            has = all_rows.columns[0].name == "rank"
            assert its.to_dicts() == [row for row in all_rows if not has or row["rank"] == 1], (name, its.title)
    assert two_ranks.analyze("kernels", rank=1, top=2)[0].to_dicts() == two_ranks.analyze("kernels", rank=1)[0].to_dicts()[:2]
    found = two_ranks.analyze("findings", rank=0)
    assert {row["rank"] for row in found[0]} == set(range(1, len(found[0]) + 1))  # places, not ranks
    with pytest.raises(stepscope.UsageError, match="rank 9 is not among the ranks of this trace: 0, 1"):
        two_ranks.analyze("kernels", rank=9)


def test_a_pipe_is_a_file(one_rank, tmp_path):
    pipe, file = tmp_path / "pipe.json.gz", ROOT / TRACE
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()))
    writer.start()
    with stepscope.open(pipe) as trace:
        writer.join()
        assert trace.events().to_dicts() == one_rank.events().to_dicts()


def test_sql_gives_the_rows_of_the_command_line(one_rank):
    query = "select kind, count(*) n, sum(duration_ns) time_ns from event group by kind order by n desc"
    assert one_rank.sql(query).to_csv() == said("sql", TRACE, query, "--format", "csv")[1]
    assert len(one_rank.sql("select * from event")) == len(one_rank.events()) > 1000  # all rows, without being asked
    assert one_rank.sql("select name from kernels limit 1")["name"][0] == one_rank.analyze("kernels")[0]["name"][0]
    assert one_rank.sql().to_csv() == said("sql", TRACE, "--tables", "--format", "csv")[1]


def test_sql_has_views_and_statistics(one_rank):
    kernels = one_rank.events(kind="kernel").to_dicts()
    row = one_rank.sql("select median(duration_ns) middle, count(*) n from kernel where regexp('gemm', name)").to_dicts()[0]
    gemms = [kernel["duration_ns"] for kernel in kernels if "gemm" in kernel["name"]]
    assert (row["middle"], row["n"]) == (statistics.median(gemms), len(gemms)) and len(gemms) > 10
    assert one_rank.sql("select kernel_count n from ranks")["n"][0] == len(kernels)


def test_columns_of_one_name_are_all_kept(one_rank):
    table = one_rank.sql("select k.name, o.name, k.duration_ns, o.duration_ns, 1 as name_2 from event k join event o on k.op = o.id "
                         "where k.kind = 'kernel' limit 3")
    names = ["name", "name_3", "duration_ns", "duration_ns_2", "name_2"]
    assert [column.name for column in table.columns] == names == list(table.to_dicts()[0]) == table.to_csv().split("\r\n")[0].split(",")
    assert [column.unit for column in table.columns] == ["", "", "ns", "ns", ""] and table["name"][0] != table["name_3"][0]
    pytest.importorskip("pandas")
    assert list(table.to_pandas()) == names
    assert pytest.importorskip("pyarrow").table(table).column_names == names and table.to_polars().columns == names


def test_columns_without_values_have_the_types_of_their_tables(one_rank):
    for rows in ("limit 0", "where launch is null limit 1"):
        table = one_rank.sql(f"select name, launch, sum(launch) as total, upper(null) as none from (select * from kernel) {rows}")
        types = {column.name: column.type for column in table.columns}
        assert types == {"name": "text", "launch": "int64", "total": "float64", "none": "float64"}
    for column, type in (("share", "float64"), ("time", "int64"), ("cause", "text")):
        assert one_rank.sql(f"select {column} from idle where 0")[column].type == type


@pytest.mark.parametrize("query, sentence", [
    ("select * from evnt", "there is no table 'evnt'. Did you mean 'event'?"),
    ("select colour from event", "no such column: colour. trace.sql() lists tables and columns."),
    ("delete from event", "only SELECT is allowed"),
    ("attach 'x.db' as x", "only SELECT is allowed"),
    ("", "the query is empty"),
])
def test_sql_that_is_refused(one_rank, query, sentence):
    with pytest.raises(stepscope.UsageError) as raised:
        one_rank.sql(query)
    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize("name, keywords, options", [
    ("e.csv", {}, []), ("e.json", {}, []), ("k.csv", {"what": "kernels"}, ["--what", "kernels"]),
    ("k.json", {"what": "kernels"}, ["--what", "kernels"]), ("e.txt", {"format": "json"}, ["--format", "json"]),
])
def test_exports_are_those_of_the_command_line(one_rank, tmp_path, name, keywords, options):
    one_rank.export(tmp_path / name, **keywords)
    code, _, err = said("export", TRACE, "-o", tmp_path / ("of." + name), *options)
    assert code == 0, err
    assert (tmp_path / name).read_bytes() == (tmp_path / ("of." + name)).read_bytes()


def test_an_export_for_other_analysers(one_rank, tmp_path):
    with pytest.warns(UserWarning, match="no file I/O"):
        one_rank.export(tmp_path / "x.pfw.gz")
    assert said("export", TRACE, "-o", tmp_path / "y.pfw.gz")[0] == 0
    read = [gzip.decompress((tmp_path / name).read_bytes()) for name in ("x.pfw.gz", "y.pfw.gz")]
    assert read[0] == read[1] and read[0].startswith(b"[\n")


def test_an_export_to_sqlite(one_rank, tmp_path):
    one_rank.export(tmp_path / "trace.db")
    with sqlite3.connect(tmp_path / "trace.db") as database:
        assert database.execute("select count(*) from event").fetchone()[0] == len(one_rank.events())
        tables = {row[0] for row in database.execute("select name from sqlite_schema")}
    assert {"event", "arg", "kernels", "idle"} <= tables
    one_rank.export(tmp_path / "idle.sqlite", what="idle")
    with sqlite3.connect(tmp_path / "idle.sqlite") as database:
        assert database.execute("select cause from idle").fetchall()[0][0] == one_rank.analyze("idle")[0]["cause"][0]
        assert "event" not in {row[0] for row in database.execute("select name from sqlite_schema")}


def test_exports_that_cannot_be_written(one_rank, tmp_path):
    for path, keywords, sentence in (("x.parquet", {}, "must end in .csv, .json, .sqlite, .db, .pfw or .pfw.gz"),
                                     ("x.csv", {"what": "kernel"}, "Did you mean 'kernels'?"),
                                     ("x.pfw", {"what": "kernels"}, "leave out what="),
                                     ("x.csv", {"format": "xml"}, "export writes csv, json, sqlite or pfw, not 'xml'")):
        with pytest.raises(stepscope.UsageError, match=sentence):
            one_rank.export(tmp_path / path, **keywords)
    with pytest.raises(FileNotFoundError):
        one_rank.export(tmp_path / "no" / "such.csv")
    assert list(tmp_path.iterdir()) == []


def test_validate(tmp_path):
    checked = stepscope.open(TRACE).validate()
    assert checked.fine and checked.to_json() == said("validate", TRACE, "--format", "json")[1]
    (tmp_path / "cut.json").write_text(json.dumps({"traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1}] * 9})[:-20])
    with pytest.warns(UserWarning, match="cut.json: the file ends early"):
        cut = stepscope.open(tmp_path / "cut.json").validate()
    assert not cut.fine and cut[0]["complete"].to_list() == ["no"]
    assert cut.to_json() == said("validate", tmp_path / "cut.json", "--format", "json")[1]


def test_merge(tmp_path):
    files = sorted((SAMPLES / "generated_exposed_comm").iterdir())
    merged = stepscope.merge(files, tmp_path / "merged.json.gz")
    assert (merged.ranks, merged.others) == (2, 0) and merged.events > 1000
    assert len(stepscope.open(tmp_path / "merged.json.gz").ranks) == 2
    code, _, _ = said("merge", *files, "-o", tmp_path / "of.json.gz")
    assert code == 0 and (tmp_path / "of.json.gz").read_bytes() == (tmp_path / "merged.json.gz").read_bytes()
    for inputs, output, sentence in ((files, "x.txt", "merge writes files that end in"), ([], "x.json", "merge needs files"),
                                     ([files[0], files[0]], "x.json", "is given twice"),
                                     ([tmp_path / "of.json.gz"], "of.json.gz", "would be overwritten; choose another place")):
        with pytest.raises(stepscope.UsageError, match=sentence):
            stepscope.merge(inputs, tmp_path / output)
    with pytest.raises(FileNotFoundError):
        stepscope.merge("no/such.json", tmp_path / "x.json")


def test_a_gate_decides_as_the_command_line_does(tmp_path):
    slow, fast = "examples/samples/mlp_loader_in_main.pt.trace.json.gz", "examples/samples/mlp_two_workers.pt.trace.json.gz"
    limits = ["step.total>5%", "step.data_loader>1ms"]
    for base, new in ((fast, slow), (slow, fast), (TRACE, "examples/samples/generated_healthy.json.gz")):
        gate = stepscope.open(base).gate(stepscope.open(new), fail_on=limits)
        code, out, _ = said("gate", base, new, "--format", "json", *[word for limit in limits for word in ("--fail-on", limit)])
        assert gate.to_json() == out and gate.passed == (code == 0)
        assert gate.outcome == {0: "pass", 1: "regression"}.get(code, "inconclusive")
        assert len(gate["Checks"]) == 2 and gate.headline in repr(gate)
    (tmp_path / "again.json.gz").write_bytes((ROOT / fast).read_bytes())
    runs = [stepscope.open(path) for path in (fast, tmp_path / "again.json.gz")]
    assert stepscope.gate(runs, iter(runs)).outcome in ("pass", "inconclusive")
    for limit, sentence in (("step", "write METRIC>LIMIT"), ("step.colour>5%", "fail_on step.colour>5%: a step has no part 'colour'")):
        with pytest.raises(stepscope.UsageError, match=sentence):
            stepscope.gate(runs, runs, fail_on=limit)
    with pytest.raises(stepscope.UsageError, match="a recording on each side"):
        stepscope.gate([], runs)


def test_explanations(one_rank):
    assert one_rank.explain("I01").to_json() == said("explain", "I01", TRACE, "--format", "json")[1]
    assert one_rank.explain("i01").to_json() == one_rank.explain("I01").to_json()
    assert stepscope.explain("I01").to_json() == said("explain", "I01", "--format", "json")[1]
    assert set(one_rank.analyze("findings", all=True)[0]["id"]) <= set(stepscope.rules())
    with pytest.raises(stepscope.UsageError, match="there is no rule 'Z99'"):
        one_rank.explain("Z99")


def test_a_closed_trace_has_no_events():
    trace = stepscope.open(ROOT / TRACE)
    trace.close()
    for use in (trace.events, trace.sql, trace.validate, lambda: trace.gate(trace), lambda: trace.explain("I01"),
                lambda: trace.export("x.csv")):
        with pytest.raises(stepscope.Error, match="the trace is closed"):
            use()
