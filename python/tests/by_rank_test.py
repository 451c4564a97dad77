"""Ranks that are read one by one give the same answers as ranks that are held together."""

import json

import pytest
import stepscope

from program import SAMPLES, said

FOLDER = "examples/samples/generated_exposed_comm"


@pytest.fixture(scope="module")
def one_by_one():
    return stepscope.open(SAMPLES / "generated_exposed_comm", by_rank=True)


def test_what_is_known_of_the_ranks(one_by_one, two_ranks):
    assert [(r.rank, r.world_size, r.path, r.steps, r.backend) for r in one_by_one.ranks] == \
        [(r.rank, r.world_size, r.path, r.steps, r.backend) for r in two_ranks.ranks]
    assert one_by_one.notes == two_ranks.notes and "2 ranks" in repr(one_by_one)
    assert all(rank.events > 1000 for rank in one_by_one.ranks)


def test_answers_are_those_of_the_command_line():
    trace = stepscope.open(FOLDER, by_rank=True)
    asked = 0
    for analysis in stepscope.analyses():
        if analysis.name == "event":
            continue
        _, out, _ = said("show", analysis.name, FOLDER, "--by-rank", "--format", "json")
        try:
            assert trace.analyze(analysis.name).to_json() == out, analysis.name
            asked += 1
        except stepscope.UsageError as error:
            assert "open the trace without by_rank" in str(error)
    assert asked > 20
    assert trace.show.kernels(top=2, step=2).to_json() == said("show", "kernels", FOLDER, "--by-rank", "--top", "2", "--step", "2", "--format", "json")[1]
    page = trace.report()
    assert page.to_json() == said("report", FOLDER, "--by-rank", "--format", "json")[1] and "Verdict" in str(json.loads(page.to_json()))


def test_what_needs_all_ranks_together_says_so(one_by_one):
    for use in (one_by_one.events, one_by_one.sql, one_by_one.validate, lambda: one_by_one.explain("I01"),
                lambda: one_by_one.gate(one_by_one), lambda: one_by_one.analyze("kernels", hta_compat=True)):
        with pytest.raises(stepscope.UsageError, match="together: open the trace without by_rank"):
            use()
    for keywords in ({"step": 99}, {"tpo": 1}, {"sort": "tiem"}):
        with pytest.raises(stepscope.UsageError):
            one_by_one.analyze("kernels", **keywords)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        stepscope.open(tmp_path / "absent.json", by_rank=True)
    with pytest.raises(TypeError, match="by_rank must be True or False"):
        stepscope.open(FOLDER, by_rank="yes")
    for file in (SAMPLES / "generated_exposed_comm").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    trace = stepscope.open(tmp_path, by_rank=True)
    next(tmp_path.iterdir()).unlink()
    with pytest.raises(stepscope.Error):
        trace.analyze("kernels")
    trace.close()
    with pytest.raises(stepscope.Error, match="the trace is closed"):
        trace.analyze("kernels")


def test_one_rank_of_an_answer(one_by_one, two_ranks):
    for name in ("kernels", "steps", "idle", "overview", "findings"):
        for keywords in ({}, {"top": 2}):
            together = two_ranks.analyze(name, rank=1, **keywords)
            assert one_by_one.analyze(name, rank=1, **keywords).to_json() == together.to_json(), name
    assert len(one_by_one.show.kernels(rank=1)[0]) < len(one_by_one.show.kernels()[0])
    with pytest.raises(stepscope.UsageError, match="rank 2 is not among the ranks of this trace: 0, 1"):
        one_by_one.show.kernels(rank=2)


def test_events_are_counted_alike(one_by_one, two_ranks):
    counts = [rank.events for rank in two_ranks.ranks]
    assert [rank.events for rank in one_by_one.ranks] == counts
    assert [len(two_ranks.events(rank=rank)) for rank in (0, 1)] == counts
    for query in ("select events n from rank order by rank", "select events n from ranks order by rank",
                  "select count(*) n from event group by rank order by rank"):
        assert two_ranks.sql(query)["n"].to_list() == counts
