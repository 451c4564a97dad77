"""Each difference has its row in docs/profiler.md."""

from __future__ import annotations

import pathlib

import pytest
from documented.differences import DIFFERENCES

DOCUMENT = pathlib.Path(__file__).resolve().parents[4] / "docs" / "profiler.md"


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_it_has_a_row(difference: str) -> None:
    table = DOCUMENT.read_text().partition("## Differences that stay")[2].partition("\n## ")[0]
    assert f"\n| {difference} |" in table
