"""The exceptions. Each has the sentence that the command line would print."""

from __future__ import annotations


class Error(Exception):
    """A trace could not be read, or has no answer. The base class of all exceptions of this package."""


class UsageError(Error, ValueError):
    """An invalid question: an unknown analysis, option, step or column, or a value out of range."""


class MissingFileError(Error, FileNotFoundError):
    """The file or folder to open does not exist."""


class ProfilerError(Error, RuntimeError):
    """The profiler cannot do this in its current state; the message says what to do."""


class NoResultsError(ProfilerError, AttributeError):
    """The profiler has no results now. Also an AttributeError, so that ``hasattr(prof, "recording_path")`` is False."""
