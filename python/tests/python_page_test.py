"""What docs/python.md shows of Python is what Python says."""

import doctest

import pytest

from conftest import ROOT


def test_the_page():
    pytest.importorskip("pandas")
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)
    assert tried >= 4 and failed == 0
