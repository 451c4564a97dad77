"""Runs the program as a person would and checks its output. Usage: cli_test.py PATH_TO_STEPSCOPE [TEST]..."""

import unittest

from advice import Advice
from files import Files, Generated
from reports import Reports, Terminal
from snapshots import Snapshots
from through_pipes import Pipes
from usage import Usage

__all__ = ["Advice", "Files", "Generated", "Pipes", "Reports", "Snapshots", "Terminal", "Usage"]

if __name__ == "__main__":
    unittest.main(verbosity=1)
