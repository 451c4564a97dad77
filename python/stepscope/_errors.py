"""The exceptions. Each has the sentence that the command line would print."""

from __future__ import annotations


class Error(Exception):
    """A trace could not be read, or has no answer. The base class of all exceptions of this package."""

    filename: str | None = None
    """The file that could not be read or written, if any."""


class UsageError(Error, ValueError):
    """An invalid question: an unknown analysis, option, step or column, or a value out of range."""


class _FileError(Error, OSError):
    """``filename`` and ``errno`` are set; the text is the sentence alone."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class MissingFileError(_FileError, FileNotFoundError):
    """The file or folder to open does not exist."""


class FilePermissionError(_FileError, PermissionError):
    """The file or folder may not be read."""


class ProfilerError(Error, RuntimeError):
    """The profiler cannot do this in its current state; the message says what to do."""


class NoResultsError(ProfilerError, AttributeError):
    """The profiler has no results now. Also an AttributeError, so that ``hasattr(prof, "recording_path")`` is False."""
