"""No file that was read is overwritten, whatever it is called and whatever writes."""

import os
import pickle
import shutil

import pytest
import stepscope
from program import SAMPLES, said

SAMPLE = SAMPLES / "generated_slow_input.json.gz"


@pytest.fixture
def trace_file(tmp_path):
    return shutil.copy(SAMPLE, tmp_path / "trace.json.gz")


@pytest.fixture
def names(tmp_path, trace_file):
    """The file's path, and others that lead to it."""
    os.symlink(trace_file, tmp_path / "link.csv")
    os.link(trace_file, tmp_path / "hard.db")
    return [trace_file, os.fsencode(trace_file), tmp_path / "x" / ".." / "trace.json.gz", tmp_path / "link.csv", tmp_path / "hard.db"]


def refused(write, *paths):
    for path in paths:
        with pytest.raises(stepscope.UsageError, match="is the trace itself and would be overwritten; choose another place"):
            write(path)


def test_by_an_export(tmp_path, trace_file, names):
    (tmp_path / "x").mkdir()
    trace = stepscope.open(trace_file)
    refused(lambda path: trace.export(path, format="csv"), *names)
    refused(lambda path: trace.export(path, format="sqlite"), *names)
    refused(lambda path: trace.export(path, format="json", what="kernels"), *names)
    refused(trace.overlay, trace_file)
    assert trace_file.read_bytes() == SAMPLE.read_bytes()


def test_by_a_page_or_a_report(trace_file):
    trace = stepscope.open(trace_file)
    page = trace.report()
    answers = [page, page.reports[-1], trace.analyze("kernels"), trace.show.idle(), trace.validate(), trace.explain("I01"),
               stepscope.diff(trace, trace), trace.gate(trace), stepscope.open(trace_file, by_rank=True).report(),
               stepscope.open(trace_file, by_rank=True).analyze("kernels")]
    trace.close()
    for answer in answers:
        refused(answer.to_html, trace_file)
    assert trace_file.read_bytes() == SAMPLE.read_bytes()


def test_of_a_folder(tmp_path):
    shutil.copytree(SAMPLES / "generated_exposed_comm", tmp_path / "job")
    trace = stepscope.open(tmp_path / "job")
    files = sorted((tmp_path / "job").iterdir())
    refused(lambda path: trace.export(path, format="json"), *files)
    refused(trace.report().to_html, *files)
    refused(lambda path: trace.overlay(path, rank=0), *files)
    trace.export(tmp_path / "job" / "events.json")
    trace.export(tmp_path / "job" / "events.json")  # is none of the files that were opened


def test_from_another_folder(tmp_path, trace_file, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = stepscope.open("trace.json.gz")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    refused(trace.report().to_html, "../trace.json.gz")


def test_other_files_are_written(tmp_path, trace_file, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    trace = stepscope.open(trace_file)
    for _ in range(2):
        trace.export(tmp_path / "events.csv")
        trace.report().to_html("~/page.html")
        trace.analyze("idle").to_html("~/idle.html")
    assert {"events.csv", "page.html", "idle.html"} <= set(os.listdir(tmp_path))
    assert b"_inputs" not in pickle.dumps(trace.analyze("idle")) and os.fsencode(tmp_path) not in pickle.dumps(trace.analyze("idle"))
    with pytest.raises(FileNotFoundError):
        trace.report().to_html(tmp_path / "no" / "such.html")


def test_by_the_command_line(tmp_path, trace_file):
    os.link(trace_file, tmp_path / "hard.csv")
    for output in (trace_file, tmp_path / "hard.csv"):
        code, _, problem = said("export", trace_file, "--format", "csv", "-o", output)
        assert code == 2 and "is the trace itself and would be overwritten; choose another place with -o" in problem
    assert trace_file.read_bytes() == SAMPLE.read_bytes()
