"""The examples in docs/python.md give the output that the page shows."""

import doctest

import pytest

from program import ROOT


def test_the_page():
    pytest.importorskip("pandas")
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)
    assert tried >= 4 and failed == 0
