"""The traces that HTA's methods use, and the data frames that they return."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import pandas as pd

from . import Report
from ._hta_critical_path import in_us as _us
from ._hta_names import SymbolTable, shorten_name
from ._trace import Trace as Recording
from ._trace import open_ranks
from ._trace import open as open_trace

TraceFiles = Union[Mapping[int, str], Sequence[str], str, None]

DESCRIBED = {"count": "count", "mean": "mean", "std": "std", "min": "min", "p25": "25%", "p50": "50%",
              "p75": "75%", "max": "max"}


class Frames:
    """The ranks of a TraceAnalysis and their tables."""

    def __init__(self, trace_files: TraceFiles = None, trace_dir: str = "/tmp/trace",
                 include_last_profiler_step: bool = False) -> None:
        self.trace_dir = trace_dir
        self.include_last_profiler_step = include_last_profiler_step
        if isinstance(trace_files, Mapping):
            self.trace = open_ranks(self._files(trace_files))
        elif trace_files is None:
            self.trace = self._opened(_without_copies(os.path.expanduser(trace_dir)))
        else:
            names = [trace_files] if isinstance(trace_files, str) else list(trace_files)
            self.trace = self._opened([self._found(name, trace_dir) for name in names])
        self._rank_names: List[int] = [rank.rank or 0 for rank in self.trace.ranks]

    def _files(self, named: Mapping[int, str]) -> Dict[int, str]:
        files = {int(rank): self._found(name, self.trace_dir) for rank, name in named.items()}
        if len({os.path.realpath(path) for path in files.values()}) < len(files):
            raise ValueError("trace_files has the same file for several ranks: give each rank its own file")
        if any(rank < 0 for rank in files):
            raise ValueError(f"trace_files has a rank below 0: {sorted(files)}")
        return files

    @staticmethod
    def _opened(paths: Any) -> Recording:
        """Warns of all that was found out about several files together."""
        trace = open_trace(paths)
        if len(trace.ranks) > 1 or not isinstance(paths, list) or len(paths) > 1:
            for note in trace.notes:
                if note not in trace.doubts:  # opening has warned of doubts
                    warnings.warn(note, stacklevel=4)
        return trace

    @staticmethod
    def _found(name: str, folder: str) -> str:
        path = os.path.expanduser(name)
        return path if os.path.isabs(path) or os.path.exists(path) else os.path.join(folder, path)

    def _tables(self, form: str, **params: Any) -> List[pd.DataFrame]:
        """The tables of one of HTA's forms, each with a column `rank`."""
        return self._frames(self.trace._as_hta(form, top=0, hta_last_step=self.include_last_profiler_step, **params))

    def _frames(self, report: Report) -> List[pd.DataFrame]:
        frames = []
        for table in report.tables:
            frame = table.to_pandas()
            if "rank" not in frame.columns:
                frame.insert(0, "rank", self._rank_names[0])
            else:
                frame["rank"] = frame["rank"].fillna(0)
            frames.append(frame)
        return frames

    def _asked(self, ranks: Optional[Sequence[int]]) -> List[int]:
        """`ranks`; by default rank 0, as in HTA, or the first if there is no rank 0."""
        if not ranks:
            return [0 if 0 in self._rank_names else self._rank_names[0]]
        absent = [rank for rank in ranks if rank not in self._rank_names]
        if absent:
            raise ValueError(f"rank {absent[0]} is not among the ranks of this trace: {sorted(self._rank_names)}")
        return list(ranks)

    def _of(self, frame: pd.DataFrame, ranks: Optional[Sequence[int]]) -> pd.DataFrame:
        """The rows of the ranks that are asked for."""
        return frame[frame["rank"].isin(self._asked(ranks))].reset_index(drop=True)

    @staticmethod
    def _described(frame: pd.DataFrame, keys: List[str], name: str, unit: float = 1.0) -> pd.DataFrame:
        """Columns (name, count), (name, mean), …, indexed by `keys`, as pandas' describe() gives them."""
        out = frame.set_index(keys)[list(DESCRIBED)].rename(columns=DESCRIBED)
        out = out.astype("float64")
        for column in out.columns:
            if column != "count":
                out[column] = out[column] / unit
        out.columns = pd.MultiIndex.from_product([[name], out.columns])
        return out

    @staticmethod
    def _durations(frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"name": frame["name"], "sum (us)": _us(frame["sum"]), "max (us)": _us(frame["max"]),
                             "min (us)": _us(frame["min"]), "stddev": frame["std"] / 1000,
                             "mean (us)": frame["mean"] / 1000, "rank": frame["rank"]})

    def get_ranks(self) -> List[int]:
        """All ranks."""
        return sorted(self._rank_names)

    def get_trace_df(self, rank: int) -> pd.DataFrame:
        """HTA's table of a rank's events: whole microseconds since the earliest event of all ranks. Names and categories
        are texts."""
        events = self._events()
        if rank not in self._rank_names:
            raise ValueError(f"rank {rank} is not among the ranks of this trace: {sorted(self._rank_names)}")
        frame = events[events["rank"] == rank].drop(columns="rank")
        return frame.set_index("index", drop=False).rename_axis(None)

    def _first_on(self, rank: int, key: str, column: str) -> Dict[Any, Any]:
        """Of each value of `key`, what the first event on the device has in `column`."""
        frame = self.get_trace_df(rank)
        frame = frame[frame["stream"] != -1]
        return dict(zip(*(frame.drop_duplicates(key)[which].tolist() for which in (key, column))))

    def get_device_type(self, rank: int) -> str:
        """"NVIDIA GPU", "AMD GPU", "MTIA" or "UNKNOWN GPU", derived from names of calls, as in HTA."""
        facts = self._facts()
        return str(facts.loc[facts["rank"] == rank, "device_type"].iloc[0])

    def _facts(self) -> pd.DataFrame:
        self._events()
        return self._hta_facts

    def _events(self) -> pd.DataFrame:
        """HTA's rows of all ranks, made on first use."""
        if not hasattr(self, "_hta_events"):
            report = self._tables("events")
            self._hta_facts, events = report
            self._hta_events: pd.DataFrame = as_hta_has_it(events)
        return self._hta_events

    @property
    def t(self) -> HtaTrace:
        """The trace behind the analysis, like HTA's Trace."""
        return HtaTrace(self)


class HtaTrace:
    """What HTA's Trace tells about the ranks; `TraceAnalysis.t` is one. Names and categories are texts, which are also the ids of its
    symbol table."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._decoded: Optional[Callable[[str], str]] = None
        self.symbol_table = SymbolTable()

    def decode_symbol_ids(self, use_shorten_name: bool = True, create_new_columns: bool = True) -> None:
        """Frames get the columns s_name and s_cat."""
        self._decoded = shorten_name if use_shorten_name else str

    @property
    def trace_files(self) -> dict[int, str]:
        """Files by rank."""
        return {name: rank.path for name, rank in zip(self._frames._rank_names, self._frames.trace.ranks)}

    @property
    def trace_path(self) -> str:
        return self._frames.trace_dir

    @property
    def min_ts(self) -> int:
        """Unix time, or the file's own, that was subtracted from all times, us."""
        return int(self._frames._facts()["earliest"].iloc[0]) // 1000

    @property
    def traces(self) -> dict[int, pd.DataFrame]:
        return self.get_all_traces()

    def get_ranks(self) -> List[int]:
        return self._frames.get_ranks()

    def get_iterations(self, rank: Optional[int] = None) -> List[int]:
        """Numbers of a rank's profiler steps."""
        steps = self.get_trace(self.get_ranks()[0] if rank is None else rank)["iteration"].dropna()
        return sorted(int(step) for step in steps.unique() if step >= 0)

    def get_trace(self, rank: int) -> pd.DataFrame:
        """A copy of `TraceAnalysis.get_trace_df(rank)`."""
        frame = self._frames.get_trace_df(rank)
        if self._decoded is not None:
            frame["s_name"] = frame["name"].map(self._decoded)
            frame["s_cat"] = frame["cat"]
        return frame

    def get_trace_df(self, rank: int) -> pd.DataFrame:
        return self.get_trace(rank)

    def get_all_traces(self) -> dict[int, pd.DataFrame]:
        return {rank: self.get_trace(rank) for rank in self.get_ranks()}

    def get_trace_duration(self, rank: int) -> int:
        """From the start of the first event to the start of the last, us."""
        starts = self.get_trace(rank)["ts"]
        return int(starts.max() - starts.min())


class Trace(HtaTrace):
    """HTA's Trace, from the same arguments as TraceAnalysis. Until `align_and_filter_trace` is called it has all steps, and times as
    recorded."""

    def __init__(self, trace_files: TraceFiles = None, trace_dir: str = "/tmp/trace") -> None:
        super().__init__(Frames(trace_files, trace_dir, include_last_profiler_step=True))
        self._asked = (trace_files, trace_dir)
        self._aligned = False

    def parse_traces(self, max_ranks: int = -1, use_multiprocessing: bool = True, use_memory_profiling: bool = True) -> None:
        """Nothing is left to do: files are read when they are asked about, all of them, on all cores."""

    def align_and_filter_trace(self, include_last_profiler_step: bool = False) -> None:
        """Times count from the earliest event of all ranks, and the last step is dropped."""
        self._aligned = True
        if not include_last_profiler_step:
            self._frames = Frames(*self._asked)

    def get_trace(self, rank: int) -> pd.DataFrame:
        frame = super().get_trace(rank)
        if not self._aligned:
            frame["ts"] += self.min_ts
            frame["end"] += self.min_ts
        return frame


def _without_copies(folder: str) -> Any:
    """The folder; or its files without the copies that HTA's methods wrote beside their originals, if there are any."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    kept = [name for name in names if not _is_copy(name, names)]
    return folder if len(kept) == len(names) else [
        os.path.join(folder, name) for name in kept
        if name.endswith((".json", ".json.gz", ".stepscope")) or os.path.isdir(os.path.join(folder, name))]


def _is_copy(name: str, names: Sequence[str]) -> bool:
    stem, ending = name[:name.find(".json")], name[name.find(".json"):]
    if name.startswith("overlaid_critical_path_"):
        return name[len("overlaid_critical_path_"):] in names
    return stem.endswith("_with_counters") and stem[:-len("_with_counters")] + ending in names


def as_hta_has_it(events: pd.DataFrame) -> pd.DataFrame:
    """Times in microseconds, `end`, whole numbers for ids, and "" for absent texts."""
    for column in ("ts", "dur"):
        events[column] = events[column] // 1000
    events["end"] = events["ts"] + events["dur"]
    for column in ("pid", "tid"):
        events[column] = _whole_where_all_are(events[column])
    for column in events.columns:
        if not pd.api.types.is_numeric_dtype(events[column].dtype):
            events[column] = events[column].fillna("")
    return events


def _whole_where_all_are(texts: "pd.Series[Any]") -> "pd.Series[Any]":
    try:
        return texts.astype("int64")
    except (ValueError, OverflowError):
        return texts
