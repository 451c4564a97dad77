"""The package is typed: a program that uses it passes mypy --strict."""

import subprocess
import sys

import pytest

PROGRAM = '''
import stepscope
from typing import Optional

def slowest(path: str) -> Optional[str]:
    with stepscope.open([path], threads=2) as trace:
        rank: stepscope.Rank = trace.ranks[0]
        kernels: stepscope.Table = trace.analyze("kernels", step=rank.steps[0], top=1)["Kernels by name"]
        page: stepscope.Page = trace.report()
    events: stepscope.Table = trace.events(rank=[0], step=range(1, 3), kind="kernel", name="gemm", args=True)
    asked: stepscope.Report = trace.show.kernels(top=3, sort="total", group="name", rank=0, hta_compat=True)
    gate: stepscope.Gate = trace.gate([trace], fail_on=["step.total>5%"])
    checks: stepscope.Validation = trace.validate()
    merged: stepscope.Merged = stepscope.merge([path], "merged.json.gz", align=False)
    trace.export(path, format="csv", what="kernels")
    print(trace.sql("select 1"), events.head(3), asked, gate.passed, checks.fine, merged.ranks, "name" in kernels)
    reveal_type(kernels["name"].to_list())
    reveal_type(kernels["name"][0])
    reveal_type(page.findings.to_dicts())
    reveal_type(trace.close())
    for analysis in stepscope.analyses():
        print(analysis.name, [param.name for param in analysis.params], str(page))
    return page.to_html("report.html")
'''


def mypy(*words):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", *words], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_a_program_that_uses_it(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    code, out = mypy("--cache-dir", str(tmp_path / "cache"), str(tmp_path / "program.py"))
    assert code == 0, out
    assert "list[int | float | str | None]" in out and '"int | float | str | None"' in out and "Any" not in out


def test_the_package_itself(tmp_path):
    code, out = mypy("--cache-dir", str(tmp_path / "cache"), "--ignore-missing-imports", "-p", "stepscope")
    assert code == 0, out


def test_mistakes_are_found(tmp_path):
    (tmp_path / "program.py").write_text("""import stepscope
stepscope.open(7)
trace = stepscope.open('a')
trace.ranks[0].rnak
trace.show.kernels(topp=3)
trace.show.kernel()
trace.show.operators(group='colour')
trace.events(kin='op')
"""
    )
    code, out = mypy("--cache-dir", str(tmp_path / "cache"), str(tmp_path / "program.py"))
    assert code == 1 and "Found 6 errors" in out
    for word in ("rnak", "topp", '"kernel"', "colour", "kin"):
        assert word in out
