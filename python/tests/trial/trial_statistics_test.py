"""Paired differences, losses and the plan of `stepscope try`, by hand-counted numbers."""

from __future__ import annotations

import math
import re
import shutil
import subprocess

import pytest
from program import PROGRAM, ROOT

from stepscope.trial import _findings, _losses, _statistics, _table, _view
from stepscope.trial._facts import Made, Program
from stepscope.trial._trials import Result
from stepscope.trial.changes import KEYS, all_changes


def test_means_of_all_pairs():
    assert _statistics.walsh([3.0, 1.0]) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(("count", "left_out"), [(5, None), (6, 0), (7, 2), (8, 3), (10, 8)])
def test_means_left_out_are_those_of_tables_of_the_signed_rank_test(count, left_out):
    assert _statistics.cut(count) == left_out


def test_the_interval_of_six_differences_is_their_whole_range():
    assert _statistics.interval([6.0, 1.0, 5.0, 2.0, 4.0, 3.0]) == (3.5, 1.0, 6.0)


def test_a_disturbed_block_moves_the_middle_little():
    found = _statistics.interval([10.0] * 11 + [500.0])
    assert found == (10.0, 10.0, 10.0)


def test_fewer_than_six_differences_are_not_sure():
    found = _statistics.interval([1.0] * 5)
    assert not _statistics.won(found) and math.isinf(found.high)


def test_when_to_stop():
    of = _statistics.Interval
    assert _statistics.enough(of(0.5, -0.5, 1.0), step=100.0)  # narrower than 2 % of the step
    assert _statistics.enough(of(30.0, 26.0, 34.0), step=100.0)  # narrower than a third of the saving
    assert _statistics.enough(of(-30.0, -60.0, 0.5), step=100.0)  # surely not worth it
    assert not _statistics.enough(of(30.0, 20.0, 40.0), step=100.0)


def test_periods():
    assert _statistics.period([1, 1, 9, 1, 1, 9, 1, 1, 9]) == 3
    assert _statistics.period([1, 1, 9, 1, 9, 1, 1, 1, 9]) == 1
    assert _statistics.period([1, 1, 1]) == 1


def test_losses():
    a = {0: 2.0, 1: 2.0, 2: 2.0}
    same = _losses.compare(a, dict(a), 1e-3)
    assert _losses.in_words(same, 1e-3) == "same"
    near = _losses.compare(a, {0: 2.0, 1: 2.001}, 1e-3)
    assert (near.steps, near.first) == (2, -1) and _losses.in_words(near, 1e-3) == "same within 0.1 %"
    far = _losses.compare(a, {0: 2.0, 1: 2.2, 2: 2.1}, 1e-3)
    assert _losses.in_words(far, 1e-3) == "differs by up to 10 % from step 1, on average by 5 %"
    assert _losses.in_words(far, 1e-3, _losses.compare(a, {0: 1.9}, 1e-3)) == "differs by up to 10 %, as unchanged runs do"
    assert _losses.in_words(_losses.compare(a, {0: math.nan}, 1e-3), 1e-3) == "differs by more than 1000 % from step 0"
    assert _losses.in_words(_losses.compare(a, {}, 1e-3), 1e-3) == "none seen"


def test_the_rules_that_changes_answer_exist():
    program = shutil.which("stepscope") or PROGRAM
    page = subprocess.run([program, "docs", "advice"], capture_output=True, text=True, check=True).stdout
    rules = set(re.findall(r"^### ([A-Z]\d\d): ", page, re.MULTILINE))
    assert len(rules) > 50
    for change in all_changes():
        assert set(change.answers) <= rules, change.key


def test_each_change_has_its_files_name():
    assert [one.key for one in all_changes()] == list(KEYS)


def test_the_page_lists_each_change():
    page = (ROOT / "docs" / "try.md").read_text()
    for change in all_changes():
        answers = ", ".join(change.answers) or "`--all`"
        assert f"| `{change.key}` | {change.name} | {answers} |" in page, change.key


def finding(rule, high):
    return _findings.Finding(rule, f"{rule} at train.py:3", "Keep the value on the device: drop .item().", high // 2, high)


def test_the_plan():
    program = Program(by="optimizer", optimizers=[Made("train.py:5", "Adam", {"is_float": True, "fused": False, "foreach": False})])
    plan = _findings.plan([finding("S01", 10), finding("H03", 8), finding("I01", 4)], program, [], False)
    assert [(change.key, promised) for change, promised in plan.tried] == [("fused_optimizer", (4, 8)), ("foreach_optimizer", (4, 8))]
    assert dict(plan.left)["S01"] == "to be changed by hand: Keep the value on the device: drop .item()"
    assert "makes no DataLoader" in dict(plan.left)["I01"]
    assert plan.tried[0][0].line(program) == "torch.optim.Adam(..., fused=True)   # train.py:5"


def test_only_the_findings_that_were_asked_for():
    plan = _findings.plan([finding("H04", 8), finding("H03", 8)], Program(zeroed="train.py:7"), ["H04"], False)
    assert [change.key for change, _ in plan.tried] == ["zero_grad"] and plan.left == []


def test_every_change_that_applies():
    plan = _findings.plan([], Program(threads=2, cores=2, is_compiled=True), [], True)
    assert [change.key for change, _ in plan.tried if change.key != "autocast"] == ["one_thread", "gc_freeze"]


def test_ports_of_copies():
    assert _view.with_port(["torchrun", "--master-port", "29500", "x.py"], 7) == ["torchrun", "--master-port", "7", "x.py"]
    assert _view.with_port(["torchrun", "--rdzv-endpoint=localhost:29500"], 7) == ["torchrun", "--rdzv-endpoint=localhost:7"]
    assert _view.spans_machines(["torchrun", "--nnodes=2", "x.py"]) and not _view.spans_machines(["torchrun", "--nnodes", "1", "x.py"])


def test_a_row_wider_than_the_terminal_becomes_three_lines():
    one = Result((), "TF32", (15_700_000, 38_200_000), saved=_statistics.Interval(34.5e6, 33e6, 35.5e6), step=68.5e6, loss="same", memory=(1 << 20, 2 << 20))
    assert _table.trials_of([one], False, 120) == [
        "  change  promised           measured per step               loss  memory",
        "  TF32    15.7 ms – 38.2 ms  34.5 ms (33 – 35.5) of 68.5 ms  same  1 → 2 MiB",
    ]
    assert _table.trials_of([one], False, 60) == [
        "  TF32",
        "    measured 34.5 ms (33 – 35.5) of 68.5 ms, promised 15.7 ms – 38.2 ms",
        "    loss same; memory 1 → 2 MiB",
    ]
