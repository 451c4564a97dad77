"""Opens traces and analyses them."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from stepscope import _core
from stepscope._ask import (
    flags_of,
    given,
    output_bytes,
    path_bytes,
    paths_bytes,
    several,
    several_words,
    shown,
    switch,
    whole,
    words,
)
from stepscope._errors import Error, UsageError
from stepscope._report import Gate, Page, Report, Validation, read_from
from stepscope._show import Show
from stepscope._table import Table

if TYPE_CHECKING:
    from typing import Literal, Union

    from stepscope._show import AnalysisName

    Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
    Steps = Union[int, str, range, None]


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
    """None if the file does not say. Tables and ``rank=`` then number it by its place, 0 for the first."""
    world_size: int | None
    path: str
    backend: str
    """Of torch.distributed, e.g. nccl."""
    steps: list[int]
    """The numbers of the marked steps."""
    devices: list[Device]
    events: int
    """Its rows in :meth:`Trace.events`. The file lists more: metadata and the arrows between events are no rows."""
    complete: bool
    """Whether the whole file could be read."""


@dataclass(frozen=True)
class Merged:
    """What :func:`stepscope.merge` wrote."""

    ranks: int
    others: int
    """Other recordings, such as those of other profilers."""
    events: int
    """As the files list them, with metadata and arrows; also what :meth:`Trace.validate` counts."""
    notes: list[str]


_HTA_FLAGS = frozenset(("hta_last_step", "no_memory", "calls", "everything"))


class Trace:
    """The ranks that were opened together. It never changes, so threads may use it concurrently."""

    def __init__(self, core: _core.Trace | _core.RankFolder) -> None:
        self._core: _core.Trace | _core.RankFolder | None = core

    def _any(self) -> _core.Trace | _core.RankFolder:
        if self._core is None:
            raise Error("the trace is closed")
        return self._core

    def _opened(self) -> _core.Trace:
        core = self._any()
        if isinstance(core, _core.RankFolder):
            raise UsageError("this needs the events of all ranks together: open the trace without by_rank=True")
        return core

    def close(self) -> None:
        """Frees the trace's memory; reports stay valid. ``with stepscope.open(path) as trace`` closes at the end of the block."""
        self._core = None

    def __enter__(self) -> Trace:
        self._any()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    @property
    def ranks(self) -> list[Rank]:
        """The ranks, sorted by number."""
        described = self._any().ranks()
        return [Rank(**{**of, "devices": [Device(**device) for device in of["devices"]]}) for of in described]

    @property
    def notes(self) -> list[str]:
        """Sentences about the files: missing ranks, damage, what the recorder could not record."""
        return self._any().notes()

    @property
    def doubts(self) -> list[str]:
        """Those of the notes that say why the files may not be ranks of one job; opening warns of them."""
        return self._any().doubts()

    @property
    def unread(self) -> list[str]:
        """The files that could not be read, each with its reason."""
        return self._any().unread()

    def __repr__(self) -> str:
        if self._core is None:
            return "<stepscope.Trace: closed>"
        ranks = self.ranks
        number = f", {len(ranks)} ranks" if len(ranks) > 1 else ""
        return f"<stepscope.Trace {os.path.basename(ranks[0].path)}{number}, {sum(rank.events for rank in ranks)} events>"

    def __reduce__(self) -> Any:
        raise TypeError("a Trace holds memory of this process and cannot be pickled: pickle its reports and tables, or open it anew")

    def __deepcopy__(self, memo: object) -> Trace:
        return self  # it never changes

    __copy__ = functools.partialmethod(__deepcopy__, None)

    @property
    def show(self) -> Show:
        """Every analysis as a method with its params: ``trace.show.kernels(top=5)``. ``trace.show("timeline")`` is the page in a
        notebook."""
        return Show(self)

    def analyze(self, name: AnalysisName | str, **params: Any) -> Report:
        """Runs one analysis; :func:`stepscope.analyses` names them all with their params, ``trace.show`` has them as methods.

        Every analysis takes ``step`` (a number, a ``range`` or text like ``"3-5"``), ``top`` (rows of each table to keep),
        ``sort`` (a column) and ``rank`` (only its rows; the answer is computed for all ranks). Options of the command line are keywords with underscores: ``tb_compat=True``; an option that may
        be given several times takes a list.

        Raises :class:`stepscope.UsageError`, a ValueError, for a question that makes no sense.
        """
        asked = given(params, flags_of(words("the name of an analysis", name)))
        return read_from(self._any().files(), Report(self._any().analyze(name, asked)))

    def events(
        self,
        *,
        rank: int | Iterable[int] | None = None,
        step: Steps = None,
        kind: str | Iterable[str] | None = None,
        name: str | None = None,
        args: bool = False,
    ) -> Table:
        """The events, a row each, with times in whole nanoseconds: ``trace.events(kind="kernel").to_pandas()``.

        ``kind`` is op, annotation, python, runtime, kernel, memcpy, memset or another that :meth:`sql` lists; ``name`` is a part
        of the event's name. An empty list of ranks or kinds chooses no event. ``args`` adds a column with each event's args as a
        JSON object.
        """
        ranks = None if rank is None else [whole("rank", one) for one in several(rank)]
        kinds = None if kind is None else several_words("kind", kind)
        part = "" if name is None else words("name", name)
        steps = dict(given({"step": step})).get("step")
        return Table(self._opened().events(ranks, steps, kinds, part, switch("args", args)))

    def sql(self, query: str | None = None) -> Table:
        """The rows that a SELECT gives, in SQLite's dialect; without a query, the tables and their columns.

        ``event``, ``arg``, ``track``, ``rank``, ``step``, ``device`` and ``flow`` hold the recording, the views ``kernel`` and
        ``ranks`` join them; every analysis is a table of its name. ``median``, ``percentile``, ``stddev`` and ``regexp`` can be
        called. Nothing can be changed.
        """
        return Table(self._opened().sql(None if query is None else words("the query", query)))

    def export(self, path: Path, *, format: Literal["csv", "json", "sqlite", "pfw"] | None = None, what: str | None = None) -> None:
        """Writes the events (the default) or the analysis ``what`` to a file, whole or not at all.

        ``format`` is by default the file's ending: .csv, .json, .sqlite or .db, which also holds every analysis, or .pfw or .pfw.gz
        for DFTracer's analysers: file I/O, ranges and operators. What a .pfw cannot hold is a warning.
        """
        target = output_bytes(path, self._opened().files())
        endings = {b".csv": "csv", b".json": "json", b".sqlite": "sqlite", b".db": "sqlite", b".pfw": "pfw", b".pfw.gz": "pfw"}
        wanted = next((of for ending, of in endings.items() if target.endswith(ending)), None) if format is None else words("format", format)
        if wanted is None:
            raise UsageError(f"{os.fsdecode(target)}: the name must end in .csv, .json, .sqlite, .db, .pfw or .pfw.gz, or give format=")
        for note in self._opened().export(target, wanted, "" if what is None else words("what", what)):
            warnings.warn(note, stacklevel=2)

    def validate(self, *, strict: bool = False) -> Validation:
        """What was read of each file, and what could not be used; ``validate().fine`` when nothing is wrong.

        Also says what of the text is no strict JSON, so that other readers refuse it; ``strict`` makes that wrong, too. Reads the files
        once more.
        """
        report, fine = self._opened().validate(switch("strict", strict))
        return read_from(self._opened().files(), Validation(report, fine))

    def explain(self, rule: str, *, step: Steps = None) -> Report:
        """Why a rule (such as ``"I01"``, see :func:`stepscope.rules`) fired or stayed silent: what it read, and its numbers."""
        return read_from(self._opened().files(), Report(_core.explain(self._opened(), words("rule", rule), given({"step": step}))))

    def gate(self, new: Trace | Iterable[Trace], **limits: Any) -> Gate:
        """Whether ``new`` may replace this trace: :func:`stepscope.gate` with this trace as its base."""
        return gate(self, new, **limits)

    def _as_hta(self, form: str, **params: Any) -> Report:
        """The answer in Holistic Trace Analysis' form of that name."""
        return read_from(self._opened().files(), Report(self._opened().as_hta(form, given(params, _HTA_FLAGS))))

    def overlay(
        self,
        output: Path,
        *,
        what: str | Iterable[str] | None = None,
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
        rank = None if rank is None else whole("rank", rank)
        if rank is None and len(numbers) > 1:
            raise UsageError("several ranks were opened: choose the one to draw into with rank=")
        if rank is not None and rank not in numbers:
            raise UsageError(f"rank {rank} is not among the ranks of this trace: {numbers}")
        at = 0 if rank is None else numbers.index(rank)
        params = dict(annotation=annotation, instance=instance, all_edges=all_edges, only_critical=only_critical)
        return self._overlay(at, output, what, **params)

    def _overlay(self, at: int, output: Path, what: str | Iterable[str] | None, **params: Any) -> list[str]:
        asked = given(params, _HTA_FLAGS | {"all_edges", "only_critical", "hta_compat"})
        drawn = several_words("what", what)
        if what is not None and not drawn:
            raise UsageError("what is empty, so nothing would be drawn; leave it out to draw everything")
        return self._opened().overlay(at, drawn, asked, output_bytes(output, self._opened().files()))

    def report(self, *, step: Steps = None, top: int | None = None) -> Page:
        """Why a step is slow and what to change, as in ``stepscope report``."""
        core, asked = self._any(), given({"step": step, "top": top})
        page = Page(core.page(asked, False), lambda: core.page(asked, True), functools.partial(core.report_file, asked))
        return read_from(core.files(), page)


def _opened(question: str, trace: object) -> _core.Trace:
    if isinstance(trace, Trace):
        return trace._opened()
    if isinstance(trace, (str, bytes, os.PathLike)):
        raise TypeError(f"{question} needs traces, not paths: stepscope.open({os.fspath(trace)!r}) gives one")
    raise TypeError(f"{question} needs traces, not {shown(trace)}")


def _sides(question: str, traces: Any) -> list[_core.Trace]:
    """A trace, or several runs."""
    is_one = isinstance(traces, (Trace, str, bytes)) or not isinstance(traces, Iterable)
    return [_opened(question, one) for one in ([traces] if is_one else traces)]


def diff(a: Trace, b: Trace, *, step: Steps = None, skip: int | None = None) -> Report:
    """What changed from ``a`` to ``b``, and whether that is more than noise: like ``stepscope diff``, with all rows.

    ``skip`` is the number of first steps of each trace to leave out; by default the warm-up that is found.
    """
    sides = [_opened("diff", one) for one in (a, b)]
    report = Report(sides[0].diff(sides[1], given({"step": step, "skip": skip})))
    return read_from([file for side in sides for file in side.files()], report)


def gate(
    base: Trace | Iterable[Trace],
    new: Trace | Iterable[Trace],
    *,
    fail_on: str | Iterable[str] = "step.total>5%",
    allow_noise: float | None = None,
    step: Steps = None,
    skip: int | None = None,
) -> Gate:
    """Whether ``new`` may replace ``base``: like ``stepscope gate``. Each side is a trace, or several runs of the same program.

    ``fail_on`` holds one or more limits such as ``"step.total>5%"``, ``"kernels.total[NAME]>3%"``, where NAME is the exact name of a
    row; ``allow_noise`` is how far, in percent, an undecided metric may exceed its limit. ``assert gate(a, b)`` fails a build unless
    the gate passed. The same recording twice on one side is refused, as each run needs a recording of its own.
    """
    sides = [_sides("gate", side) for side in (base, new)]
    limits = several_words("fail_on", fail_on)
    if not limits or "" in limits:
        raise UsageError("fail_on needs a limit, such as 'step.total>5%'; without one, every recording would pass")
    asked = given({"fail_on": limits, "allow_noise": allow_noise, "step": step, "skip": skip})
    files = [file for side in sides for one in side for file in one.files()]
    return read_from(files, Gate(*_core.gate(sides[0], sides[1], asked)))


def explain(rule: str) -> Report:
    """A rule and its constants, without a trace."""
    return Report(_core.explain(None, words("rule", rule), []))


def rules() -> dict[str, str]:
    """The ids of all rules and health rows, each with its one line."""
    return dict(_core.rules())


def merge(
    paths: Path | Iterable[Path], output: Path, *, align: bool = True, all_runs: bool = False, run: int = 0, threads: int = 0
) -> Merged:
    """Merges the files of several ranks and profilers into one time line, like ``stepscope merge``.

    ``output`` ends in .json.gz, .json or .pftrace; it is written whole or not at all. ``align=False`` keeps the clocks as recorded.
    Files of another run, or that recorded at another time, are left out and named in the notes; ``all_runs=True`` merges them, too, and
    ``run`` chooses a run as in :func:`open`.
    """
    flags = switch("align", align), switch("all_runs", all_runs)
    return Merged(*_core.merge(paths_bytes(paths), path_bytes(output), *flags, whole("run", run), whole("threads", threads)))


def open(path: Path | Iterable[Path], *, threads: int = 0, run: int = 0, by_rank: bool = False) -> Trace:
    """Opens a trace: a ``.json`` or ``.json.gz`` file, a folder or several of either as the ranks of one job.

    A leading ``~`` is the home folder. ``threads`` limits the threads that read and analyse; 0 means one per core. ``run``: of several
    runs of a job in a folder, read the run-th, 1 for the oldest; 0 reads the newest whole one. Damaged files are read as far as possible.
    Each of these is a warning: damage, files that cannot be read at all (``Trace.unread``), files that you name and that are not used,
    and files that do not look like the ranks of one job.

    ``by_rank`` is for jobs that do not fit in memory: each question reads the ranks' files again, one by one. The trace then answers
    :meth:`Trace.analyze`, ``show`` and :meth:`Trace.report`, but not what needs the events of all ranks together.

    Raises :class:`stepscope.MissingFileError`, a FileNotFoundError, when there is no such file, and
    :class:`stepscope.Error` when nothing could be read.
    """
    switch("by_rank", by_rank)
    paths, limit, chosen = paths_bytes(path), whole("threads", threads), whole("run", run)
    core = _core.open_by_rank(paths, limit, chosen) if by_rank else _core.open(paths, limit, chosen, [])
    unused = [] if chosen else core.unused(paths)
    left_out = [f"not used: {', '.join(unused)}. Trace.notes says why; run=N reads another run of a job"] if unused else []
    for sentence in [*_unusable(core), *left_out, *core.doubts()]:
        warnings.warn(sentence, stacklevel=2)
    return Trace(core)


def _unusable(core: _core.Trace | _core.RankFolder) -> list[str]:
    return [*(f"not read: {reason}" for reason in core.unread()), *core.damage()]


def open_ranks(files: Mapping[int, str]) -> Trace:
    """Opens files of which the caller says which ranks they are."""
    core = _core.open(paths_bytes(list(files.values())), 0, 0, list(files))
    for sentence in _unusable(core):
        warnings.warn(sentence, stacklevel=4)
    return Trace(core)
