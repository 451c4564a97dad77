"""The traces that HTA's methods use, and the data frames that they return."""

from __future__ import annotations

import os
import warnings
from typing import Any, List, Mapping, Optional, Sequence, Union

import pandas as pd

from . import Report
from . import open as open_trace
from ._hta_critical_path import in_us as _us

TraceFiles = Union[Mapping[int, str], Sequence[str], str, None]

DESCRIBED = {"count": "count", "mean": "mean", "std": "std", "min": "min", "p25": "25%", "p50": "50%",
              "p75": "75%", "max": "max"}


class Frames:
    """The ranks of a TraceAnalysis and their tables."""

    def __init__(self, trace_files: TraceFiles = None, trace_dir: str = "/tmp/trace",
                 include_last_profiler_step: bool = False) -> None:
        wanted: Optional[Mapping[int, str]] = trace_files if isinstance(trace_files, Mapping) else None
        if trace_files is None:
            paths: Any = os.path.expanduser(trace_dir)
        else:
            names = [trace_files] if isinstance(trace_files, str) else (
                list(trace_files.values()) if isinstance(trace_files, Mapping) else list(trace_files))
            paths = [self._found(name, trace_dir) for name in names]
        self.trace_dir = trace_dir
        self.include_last_profiler_step = include_last_profiler_step
        by_path = {os.path.realpath(self._found(p, trace_dir)): r for r, p in wanted.items()} if wanted else {}
        if wanted and len(by_path) < len(wanted):
            raise ValueError("trace_files has the same file for several ranks: give each rank its own file")
        self.trace = open_trace(paths)
        self._rank_names: List[int] = []
        for rank in self.trace.ranks:
            said = by_path.get(os.path.realpath(rank.path), rank.rank)
            self._rank_names.append(int(said or 0))
        if not wanted and len(self.trace.ranks) > 1:
            for note in self.trace.notes:
                warnings.warn(note, stacklevel=2)

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
                told = {rank.rank: name for rank, name in zip(self.trace.ranks, self._rank_names)}
                frame["rank"] = frame["rank"].map(lambda r: told.get(r, 0))
            frames.append(frame)
        return frames

    def _of(self, frame: pd.DataFrame, ranks: Optional[Sequence[int]]) -> pd.DataFrame:
        """The rows of `ranks`; by default of rank 0, as in HTA."""
        wanted = [0] if not ranks else list(ranks)
        absent = [rank for rank in wanted if rank not in self._rank_names]
        if absent and not ranks:
            wanted = [self._rank_names[0]]
        elif absent:
            raise ValueError(f"rank {absent[0]} is not among the ranks of this trace: {sorted(self._rank_names)}")
        return frame[frame["rank"].isin(wanted)].reset_index(drop=True)

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
            for column in ("ts", "dur"):
                events[column] = events[column] // 1000
            events["end"] = events["ts"] + events["dur"]
            for column in ("pid", "tid"):
                events[column] = _whole_where_all_are(events[column])
            for column in events.columns[events.dtypes == object]:
                events[column] = events[column].fillna("")
            self._hta_events: pd.DataFrame = events
        return self._hta_events


def _whole_where_all_are(texts: "pd.Series[Any]") -> "pd.Series[Any]":
    try:
        return texts.astype("int64")
    except (ValueError, OverflowError):
        return texts


def shorten_name(name: str) -> str:
    """A kernel's name without template arguments, parameters and return type; names of copies and fills are kept."""
    if name.startswith(("Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma")) or not ("<" in name or "(" in name):
        return name
    kept: List[str] = []
    for c in name.replace("->", ""):
        if c in ">)":
            opening = "<" if c == ">" else "("
            while kept and kept.pop() != opening:
                pass
        else:
            kept.append(c)
    return "".join(kept).split(" ")[-1]
