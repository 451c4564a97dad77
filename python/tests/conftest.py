"""Fixtures: every test runs at the root of the project, and two samples are open."""

import pytest
from program import ROOT, SAMPLES


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def one_rank():
    import stepscope

    return stepscope.open(SAMPLES / "generated_slow_input.json.gz")


@pytest.fixture(scope="session")
def two_ranks():
    import stepscope

    return stepscope.open(SAMPLES / "generated_exposed_comm")
