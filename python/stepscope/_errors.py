"""The exceptions. Each carries the sentence that the command line would print."""

from __future__ import annotations


class Error(Exception):
    """A trace could not be read, or has no answer. Every exception of this package is one."""


class UsageError(Error, ValueError):
    """An invalid question: an unknown analysis, option, step or column, or a value out of range."""


class MissingFileError(Error, FileNotFoundError):
    """The file or folder to open does not exist."""


class ProfilerError(Error, RuntimeError):
    """The profiler cannot do what it was asked in its present state; the sentence says what to do."""


class NoResultsError(ProfilerError, AttributeError):
    """A profiler has no results now. Also an AttributeError, so that ``hasattr(prof, "recording_path")`` is False."""
