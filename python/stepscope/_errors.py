"""What goes wrong, each with the sentence that the command line would print."""

from __future__ import annotations


class Error(Exception):
    """A trace could not be read, or has no answer. Every exception of this package is one."""


class UsageError(Error, ValueError):
    """A question that makes no sense: an unknown analysis, option, step or column, or a value that does not fit."""


class MissingFileError(Error, FileNotFoundError):
    """The file or folder to open does not exist."""


class ProfilerError(Error, RuntimeError):
    """The profiler was asked for something that makes no sense now; the sentence says what to do."""


class NoResultsError(ProfilerError, AttributeError):
    """A profiler's results were asked for and there are none now: its properties, such as ``recording_path``, are not there."""
