"""Starts the server as a person would and asks it. Usage: serve_test.py PATH_TO_STEPSCOPE [TEST]..."""

import unittest

from answers import Answers, Watching
from security import Security, Sources

__all__ = ["Answers", "Security", "Sources", "Watching"]

if __name__ == "__main__":
    unittest.main(verbosity=1)
