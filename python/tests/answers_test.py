"""The package gives the same answers as the command line."""

import concurrent.futures
import pickle

import pytest
import stepscope

from program import SAMPLES, said

TRACES = ["examples/samples/generated_slow_input.json.gz", "examples/samples/generated_exposed_comm",
          "examples/samples/transformer_stacks_memory.pt.trace.json.gz"]


def asked(analysis):
    """The required keywords of an analysis, and the same options for the command line."""
    return ({"id": 7}, ["--id", "7"]) if any(p.name == "id" for p in analysis.params) else ({}, [])


@pytest.mark.parametrize("path", TRACES)
def test_every_analysis_gives_the_bytes_of_the_command_line(path):
    trace = stepscope.open(path)
    assert len(stepscope.analyses()) > 20
    for analysis in stepscope.analyses():
        keywords, options = asked(analysis)
        _, out, _ = said("show", analysis.name, path, "--format", "json", *options)
        assert trace.analyze(analysis.name, **keywords).to_json() == out, analysis.name


@pytest.mark.parametrize("path", TRACES)
def test_the_report_is_the_command_lines(path):
    page = stepscope.open(path).report()
    assert page.to_json() == said("report", path, "--format", "json")[1]
    assert str(page) == said("report", path)[1]
    assert page.to_html() == said("report", path, "--format", "html")[1]
    assert page.verdict["headline"].to_list()[0] in str(page).replace("\n", " ").replace("  ", " ")


@pytest.mark.parametrize("keywords, options", [
    ({"step": 1}, ["--step", "1"]),
    ({"step": "1-2", "top": 3}, ["--step", "1-2", "--top", "3"]),
    ({"step": range(1, 3)}, ["--step", "1-2"]),
    ({"tb_compat": True}, ["--tb-compat"]),
    ({"tb_compat": False, "sort": None}, []),
    ({"sort": "count"}, ["--sort", "count"]),
])
def test_keywords_are_options(one_rank, keywords, options):
    _, out, _ = said("show", "kernels", TRACES[0], "--format", "json", *options)
    assert one_rank.analyze("kernels", **keywords).to_json() == out


def test_an_option_given_several_times_is_a_list(one_rank):
    _, out, _ = said("show", "whatif", TRACES[0], "--format", "json", "--scale", "data_loading=0", "--scale", "kernel:/gemm/=0.5")
    assert one_rank.analyze("whatif", scale=["data_loading=0", "kernel:/gemm/=0.5"]).to_json() == out


def test_text_and_csv_are_the_command_lines(one_rank):
    report = one_rank.analyze("kernels")
    assert report.to_text(rows=0) == said("show", "kernels", TRACES[0])[1]
    assert report.to_csv().encode() == said("show", "kernels", TRACES[0], "--format", "csv")[1].encode()


def test_one_file_and_the_folder_it_is_in():
    files = sorted((SAMPLES / "generated_exposed_comm").iterdir())
    folder, listed = stepscope.open(SAMPLES / "generated_exposed_comm"), stepscope.open([str(f) for f in files])
    assert [rank.rank for rank in folder.ranks] == [0, 1]
    assert folder.analyze("steps").to_json() == listed.analyze("steps").to_json()


def test_what_is_known_of_ranks(two_ranks, one_rank):
    first = two_ranks.ranks[0]
    assert (first.rank, first.world_size, first.backend, first.complete) == (0, 2, "nccl", True)
    assert len(first.steps) == 4 and first.events > 1000
    assert one_rank.ranks[0].devices[0].name
    assert "2 ranks" in repr(two_ranks)


def test_reports_outlive_their_trace():
    with stepscope.open(TRACES[0]) as trace:
        report, page = trace.analyze("kernels"), trace.report()
        rows = report[0].to_dicts()
    assert report[0].to_dicts() == rows
    assert page.to_json() == said("report", TRACES[0], "--format", "json")[1]


def test_threads_may_share_a_trace(two_ranks):
    names = [a.name for a in stepscope.analyses() if not asked(a)[0]] * 2
    alone = [two_ranks.analyze(name).to_json() for name in names]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda name: two_ranks.analyze(name).to_json(), names)) == alone


def test_notebooks_get_a_piece_of_a_page(one_rank):
    for thing in (one_rank.report(), one_rank.analyze("idle"), one_rank.analyze("steps")[0]):
        html = thing._repr_html_()
        assert html.startswith('<div class="stepscope-') and html.rstrip().endswith("</div>")
        assert "<html" not in html and "\nbody{" not in html and "<script" not in html
    assert "<svg" in one_rank.analyze("steps")._repr_html_().split("</defs></svg>")[1]


def test_pages_can_be_written(one_rank, tmp_path):
    text = one_rank.report().to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_bytes() == text.encode()


def test_a_page_may_be_small_or_redacted(one_rank):
    page = one_rank.report()
    with pytest.warns(UserWarning, match="exceeds max_size='1kB' even without its timeline"):
        assert "Its timeline is left out" in page.to_html(max_size="1kB")
    assert "Args, stacks and links of events are left out" in page.to_html(redact=["paths", "args"])
    for wrong in ({"max_size": "many"}, {"redact": "names"}):
        with pytest.raises(stepscope.UsageError):
            page.to_html(**wrong)
    restored = pickle.loads(pickle.dumps(page))
    assert "<h1>" in restored.to_html() and "<script" not in restored.to_html()
    with pytest.raises(stepscope.UsageError, match="restored"):
        restored.to_html(redact="paths")


def test_a_page_of_ranks_read_one_by_one_has_no_timeline():
    page = stepscope.open("examples/samples/generated_exposed_comm", by_rank=True).report()
    assert "It has no timeline, as its ranks were read one by one." in page.to_html()


def test_diff_gives_the_bytes_of_the_command_line():
    paths = ["examples/samples/mlp_loader_in_main.pt.trace.json.gz", "examples/samples/mlp_two_workers.pt.trace.json.gz"]
    slow, fast = (stepscope.open(path) for path in paths)
    report = stepscope.diff(slow, fast)
    assert report.to_csv() == said("diff", *paths, "--format", "csv")[1]
    assert "faster per step" in report[0]["headline"].to_list()[0]
    assert stepscope.diff(slow, fast, skip=2)[0]["steps_a"].to_list()[0] < report[0]["steps_a"].to_list()[0]
    with pytest.raises(stepscope.UsageError):
        stepscope.diff(slow, fast, step=4711)
