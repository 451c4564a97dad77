"""Opens traces and analyses them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from stepscope import _core
from stepscope._ask import flags_of, given, path_bytes
from stepscope._errors import Error, UsageError
from stepscope._report import Page, Report

if TYPE_CHECKING:
    from typing import Union

    Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]


@dataclass(frozen=True)
class Device:
    """A device, as the file describes it."""

    id: int
    name: str
    total_memory: int
    """Bytes; 0 if not stated."""


@dataclass(frozen=True)
class Rank:
    """One process's recording."""

    rank: int | None
    """None if the file does not say."""
    world_size: int | None
    path: str
    backend: str
    """Of torch.distributed, e.g. nccl."""
    steps: list[int]
    """The numbers of the marked steps."""
    devices: list[Device]
    events: int
    complete: bool
    """Whether the whole file could be read."""


_HTA_FLAGS = frozenset(("hta_last_step", "no_memory", "calls", "everything"))


class Trace:
    """The ranks that were opened together. It never changes, so threads may use it concurrently."""

    def __init__(self, core: _core.Trace) -> None:
        self._core: _core.Trace | None = core

    def _opened(self) -> _core.Trace:
        if self._core is None:
            raise Error("the trace is closed")
        return self._core

    def close(self) -> None:
        """Frees the trace's memory; reports stay valid. ``with stepscope.open(path) as trace`` closes at the end of the block."""
        self._core = None

    def __enter__(self) -> Trace:
        self._opened()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    @property
    def ranks(self) -> list[Rank]:
        """The ranks, sorted by number."""
        described = self._opened().ranks()
        return [Rank(**{**of, "devices": [Device(**device) for device in of["devices"]]}) for of in described]

    @property
    def notes(self) -> list[str]:
        """Sentences about the files: missing ranks, what the recorder could not record."""
        return self._opened().notes()

    @property
    def unread(self) -> list[str]:
        """The files that could not be read, each with its reason."""
        return self._opened().unread()

    def __repr__(self) -> str:
        if self._core is None:
            return "<stepscope.Trace: closed>"
        ranks = self.ranks
        number = f", {len(ranks)} ranks" if len(ranks) > 1 else ""
        return f"<stepscope.Trace {os.path.basename(ranks[0].path)}{number}, {sum(rank.events for rank in ranks)} events>"

    def analyze(self, name: str, **params: Any) -> Report:
        """Runs one analysis; :func:`stepscope.analyses` names them all with their params.

        Every analysis takes ``step`` (a number, a ``range`` or text like ``"3-5"``), ``top`` (rows of each table to keep) and
        ``sort`` (a column). Options of the command line are keywords with underscores: ``tb_compat=True``; an option that may
        be given several times takes a list.

        Raises :class:`stepscope.UsageError`, a ValueError, for a question that makes no sense.
        """
        return Report(self._opened().analyze(name, given(params, flags_of(name))))

    def _as_hta(self, form: str, **params: Any) -> Report:
        """The answer in Holistic Trace Analysis' form of that name."""
        return Report(self._opened().as_hta(form, given(params, _HTA_FLAGS)))

    def overlay(
        self,
        output: Path,
        *,
        what: Iterable[str] = (),
        rank: int | None = None,
        annotation: str | None = None,
        instance: int | range | str | None = None,
        all_edges: bool = False,
        only_critical: bool = False,
    ) -> list[str]:
        """Writes a copy of a rank's file with answers drawn into it, for Perfetto, like ``stepscope overlay``.

        ``what`` names ``critical_path``, ``queue_length`` and ``memory_bandwidth``; without it, all three are drawn. ``rank``
        may be left out if there is only one. The copy gives the same answers as the file, unless ``only_critical`` left events
        out. Returns notes about the copy. ``output`` ends in .json.gz or .json; it is written whole or not at all.

        Raises :class:`stepscope.UsageError` for an unknown rank, or for several ranks without ``rank``.
        """
        numbers = [of.rank for of in self.ranks]
        if rank is None and len(numbers) > 1:
            raise UsageError("several ranks were opened: choose the one to draw into with rank=")
        if rank is not None and rank not in numbers:
            raise UsageError(f"rank {rank} is not among the ranks of this trace: {numbers}")
        at = 0 if rank is None else numbers.index(rank)
        params = dict(annotation=annotation, instance=instance, all_edges=all_edges, only_critical=only_critical)
        return self._overlay(at, output, what, **params)

    def _overlay(self, at: int, output: Path, what: Iterable[str], **params: Any) -> list[str]:
        asked = given(params, _HTA_FLAGS | {"all_edges", "only_critical", "hta_compat"})
        return self._opened().overlay(at, [what] if isinstance(what, str) else list(what), asked, path_bytes(output))

    def report(self, *, step: int | str | range | None = None, top: int | None = None) -> Page:
        """Why a step is slow and what to change, as in ``stepscope report``."""
        core, asked = self._opened(), given({"step": step, "top": top})
        return Page(core.page(asked, False), lambda: core.page(asked, True))


def diff(a: Trace, b: Trace, *, step: int | str | range | None = None, skip: int | None = None) -> Report:
    """What changed from ``a`` to ``b``, and whether that is more than noise: like ``stepscope diff``, with all rows.

    ``skip`` is the number of first steps of each trace to leave out; by default one, if a trace has more than four.
    """
    return Report(a._opened().diff(b._opened(), given({"step": step, "skip": skip})))


def open(path: Path | Iterable[Path], *, threads: int = 0, run: int = 0) -> Trace:
    """Opens a trace: a ``.json`` or ``.json.gz`` file, a folder or several of either as the ranks of one job.

    ``threads`` limits the threads that read and analyse; 0 means one per core. ``run``: of several runs of a job in a folder, read the
    run-th, 1 for the oldest; 0 reads the newest whole one. Damaged files are read as far as possible; files that
    cannot be read at all are listed in ``Trace.unread`` and named in a warning.

    Raises :class:`stepscope.MissingFileError`, a FileNotFoundError, when there is no such file, and
    :class:`stepscope.Error` when nothing could be read.
    """
    paths = [path] if isinstance(path, (str, bytes, os.PathLike)) else list(path)
    core = _core.open([path_bytes(one) for one in paths], threads, run)
    for reason in core.unread():
        warnings.warn(f"not read: {reason}", stacklevel=2)
    return Trace(core)
