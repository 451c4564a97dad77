"""Answers: a report of one analysis, and the page that says why a step is slow."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from stepscope import _core
from stepscope._ask import output_bytes
from stepscope._errors import UsageError
from stepscope._table import Table

if TYPE_CHECKING:
    import pandas


class _Answer:
    """What :class:`Report` and :class:`Page` share."""

    _inputs: tuple[bytes, ...] = ()
    """The files that were read for it; not pickled."""

    def _written(self, text: Callable[[], str], path: str | os.PathLike[str] | None) -> str:
        if path is None:
            return text()
        target, written = output_bytes(path, self._inputs), text()
        with open(os.fsdecode(target), "w", encoding="utf-8", newline="") as file:
            file.write(written)
        return written


_AnyAnswer = TypeVar("_AnyAnswer", bound=_Answer)


def read_from(inputs: Iterable[bytes], answer: _AnyAnswer) -> _AnyAnswer:
    """The answer, which refuses to be written over these files."""
    answer._inputs = tuple(inputs)
    return answer


class Report(_Answer):
    """The answer of one analysis: tables and notes. It owns its data and outlives the trace."""

    def __init__(self, core: _core.Report) -> None:
        self._core = core
        self.name: str = core.name
        self.question: str = core.question

    @functools.cached_property
    def tables(self) -> list[Table]:
        return [Table(core) for core in self._core.tables()]

    @property
    def notes(self) -> list[str]:
        """Sentences that readers must see: what is missing, partial or estimated."""
        return self._core.notes

    def __len__(self) -> int:
        """The number of tables."""
        return len(self.tables)

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def __getitem__(self, which: int | str) -> Table:
        """The table with that title or index. KeyError or IndexError if there is none."""
        if not isinstance(which, str):
            return self.tables[which]
        for table in self.tables:
            if table.title == which:
                return table
        raise KeyError(f"there is no table {which!r}; the tables are {', '.join(t.title for t in self.tables)}")

    def __contains__(self, title: object) -> bool:
        """Whether there is a table of that title."""
        return any(table.title == title for table in self.tables)

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in self.__dict__.items() if name not in ("_core", "tables", "_inputs")}
        return {**own, "_state": self._core.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._core = _core.Report.restored(self.__dict__.pop("_state"))

    def __deepcopy__(self, memo: object) -> Report:
        return self  # it never changes

    __copy__ = functools.partialmethod(__deepcopy__, None)

    def __repr__(self) -> str:
        tables = ", ".join(f"{table.title!r} ({len(table)} rows)" for table in self.tables)
        return f"<stepscope.Report {self.name}: {tables}>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self._core.fragment()

    def to_text(self, width: int = 100, rows: int = _core.rows_on_terminal) -> str:
        """The text that the terminal shows, without colour; ``rows=0`` prints all rows."""
        return self._core.text(width, rows)

    def to_pandas(self, which: int | str = 0, dtype_backend: Literal["numpy", "pyarrow"] = "numpy") -> pandas.DataFrame:
        """One of the tables as a data frame, by index or title: see :meth:`Table.to_pandas`."""
        return self[which].to_pandas(dtype_backend)

    def to_json(self) -> str:
        """The same bytes as ``stepscope show NAME TRACE --format json``."""
        return self._core.json()

    def to_csv(self) -> str:
        """The same text as ``--format csv``."""
        return self._core.csv()

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A self-contained HTML page; also written to ``path`` if given."""
        return self._written(self._core.html, path)


class Validation(Report):
    """What was read of each file, and what could not be used."""

    def __init__(self, core: _core.Report, fine: bool) -> None:
        super().__init__(core)
        self.fine = fine
        """Every file was read to its end, without loss and without contradictions. So is ``bool(validation)``."""

    def __bool__(self) -> bool:
        return self.fine


class Gate(Report):
    """The decision of a gate: a row per limit, and notes."""

    def __init__(self, outcome: str, headline: str, core: _core.Report) -> None:
        super().__init__(core)
        self.outcome = outcome
        """pass, regression or inconclusive."""
        self.headline = headline

    @property
    def passed(self) -> bool:
        """False also when the recordings cannot tell. So is ``bool(gate)``."""
        return self.outcome == "pass"

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"<stepscope.Gate: {self.headline}>"


class Page(_Answer):
    """Why a step is slow: the verdict, ranked findings, and what the recording cannot tell.

    ``print(page)`` prints what ``stepscope report`` shows; ``page.to_html("report.html")`` and ``page.reports`` have every number.
    """

    def __init__(
        self, first: _core.Page, everything: Callable[[], _core.Page], file: Callable[[str, str], tuple[str, bool]] | None = None
    ) -> None:
        self._first = first
        self._ask_everything = everything
        self._file = file
        self.title: str = first.title
        self._judgement = Report(first.reports()[0])

    @functools.cached_property
    def _everything(self) -> _core.Page:
        return self._ask_everything()

    def __reduce__(self) -> tuple[Callable[[bytes, bytes], Page], tuple[bytes, bytes]]:
        return _restored_page, (self._first.state(), self._everything.state())

    def __deepcopy__(self, memo: object) -> Page:
        return self  # it never changes

    __copy__ = functools.partialmethod(__deepcopy__, None)

    @property
    def verdict(self) -> Table:
        """One row per rank; ``headline`` is the sentence."""
        return self._judgement["Verdict"]

    @property
    def findings(self) -> Table:
        """What to change, the largest expected saving first."""
        return self._judgement["Findings"]

    @property
    def health(self) -> Table:
        """What is missing or doubtful in the recording."""
        return self._judgement["Health"]

    @property
    def notes(self) -> list[str]:
        return self._judgement.notes

    @functools.cached_property
    def reports(self) -> list[Report]:
        """The verdict and every analysis that needs no params; run on first access."""
        return [read_from(self._inputs, Report(core)) for core in self._everything.reports()]

    def __repr__(self) -> str:
        return f"<stepscope.Page {self.title}: {len(self.findings)} findings>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self._first.fragment()

    def to_text(self, width: int = 100, rows: int = 0) -> str:
        """The text that the terminal shows, without colour."""
        return self._first.text(width, rows)

    def to_json(self) -> str:
        """The same bytes as ``stepscope report TRACE --format json``."""
        return self._everything.json()

    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, max_size: str = "20MB", redact: str | Iterable[str] = ""
    ) -> str:
        """The page of ``stepscope serve`` as one file, with the timeline; also written to ``path`` if given.

        ``max_size`` limits the file, ``redact`` names what to leave out: paths, hosts, args. A page that was pickled
        has no recording any more: it is written without the timeline, and cannot be redacted.
        """
        words = redact if isinstance(redact, str) else ",".join(redact)
        if self._file is not None:
            file = self._file

            def text() -> str:
                made, exceeds = file(max_size, words)
                if exceeds:
                    sentence = f"the page exceeds max_size={max_size!r} even without its timeline: a smaller top= makes it smaller"
                    warnings.warn(sentence, stacklevel=4)
                return made

            return self._written(text, path)
        if words:
            raise UsageError("this page was restored without its recording: redact the original")
        return self._written(lambda: self._everything.html(), path)


def _restored_page(first: bytes, everything: bytes) -> Page:
    return Page(_core.Page.restored(first), lambda: _core.Page.restored(everything))
