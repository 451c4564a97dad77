"""Filters of HTA's data frames: a filter is called with a frame and returns the rows that it selects."""

from __future__ import annotations

import abc
import enum
import warnings
from typing import Any, Iterable, List, Optional, Sequence, Set, Tuple, Union

import pandas as pd

Numbers = Union[int, Iterable[int]]


def _numbers(values: Numbers, what: str) -> List[int]:
    found: List[Any] = [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
    if not all(hasattr(value, "__index__") for value in found):
        raise TypeError(f"{what} must be a whole number or several, not {values!r}")
    return [int(value.__index__()) for value in found]


def _has(df: pd.DataFrame, *columns: str) -> bool:
    absent = [column for column in columns if column not in df.columns]
    if absent:
        warnings.warn(f"the frame has no column {absent[0]!r}, so nothing is filtered", stacklevel=3)
    return not absent


def _name_column(df: pd.DataFrame) -> str:
    return "s_name" if "s_name" in df.columns else "name"


class Filter(abc.ABC):
    """A filter is called with a frame. Names are texts here; of `symbol_table`, only whether there is one matters, and only to
    GPUKernelFilter and CPUOperatorFilter."""

    @abc.abstractmethod
    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        """The rows of `df` that are selected."""


class IterationFilter(Filter):
    """Events of the profiler steps with these numbers."""

    def __init__(self, iterations: Numbers) -> None:
        self.iterations = _numbers(iterations, "iterations")

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        return df[df["iteration"].isin(self.iterations)] if _has(df, "iteration") else df


class IterationIndexFilter(Filter):
    """Events of the profiler steps at these indices among the frame's steps, from 0. A frame without steps stays whole."""

    def __init__(self, iteration_index: Numbers) -> None:
        self.iteration_index = _numbers(iteration_index, "iteration_index")

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        if not _has(df, "iteration"):
            return df
        steps = sorted(step for step in df["iteration"].dropna().unique() if step >= 0)
        if not steps:
            return df
        return df[df["iteration"].isin([step for i, step in enumerate(steps) if i in self.iteration_index])]


class FirstIterationFilter(IterationIndexFilter):
    """Events of the first profiler step."""

    def __init__(self) -> None:
        super().__init__(0)


class RankFilter(Filter):
    """Events of these ranks, in a frame with a column `rank`."""

    def __init__(self, ranks: Numbers) -> None:
        self.ranks = _numbers(ranks, "ranks")

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        return df[df["rank"].isin(self.ranks)] if _has(df, "rank") else df


class TimeRangeFilter(Filter):
    """Events within [start, end], us."""

    def __init__(self, time_range: Tuple[int, int]) -> None:
        bounds = _numbers(time_range, "time_range")
        if len(bounds) != 2 or bounds[0] > bounds[1]:
            raise ValueError(f"time_range must be a pair (start, end) with start <= end, not {time_range!r}")
        self.time_start, self.time_end = bounds

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        if not _has(df, "ts", "dur"):
            return df
        return df[(df["ts"] >= self.time_start) & (df["ts"] + df["dur"] <= self.time_end)]


class NameFilter(Filter):
    """Events whose name matches the regular expression `name_pattern` at its start. `name_column`: by default `s_name` if
    the frame has it, else `name`."""

    def __init__(self, name_pattern: str, symbol_table: Any = None, name_column: Optional[str] = None) -> None:
        self.name_pattern = name_pattern
        self.name_column = name_column

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        column = self.name_column or _name_column(df)
        if not _has(df, column):
            return df
        return df[df[column].astype(str).str.match(self.name_pattern)]


class NameStringColumnFilter(NameFilter):
    """A NameFilter."""

    def __init__(self, name_pattern: str) -> None:
        super().__init__(name_pattern)


class NameIdColumnFilter(NameFilter):
    """A NameFilter of the column `name`, which holds texts here."""

    def __init__(self, name_pattern: str) -> None:
        super().__init__(name_pattern, name_column="name")


class QueryFilter(Filter):
    """Rows selected by pandas' DataFrame.query."""

    def __init__(self, query: str) -> None:
        self.query = query

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        return df.query(self.query)


class ZeroDurationFilter(Filter):
    """Events that last longer than 0."""

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        return df[df["dur"] > 0] if _has(df, "dur") else df


class GPUKernelFilter(Filter):
    """Events on streams above 0, as in HTA; with a `symbol_table`, also waits of the device that have no stream."""

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        if not _has(df, "stream"):
            return df
        return df[(df["stream"] > 0) | _waits_of_device(df)] if symbol_table is not None else df[df["stream"] > 0]


class CPUOperatorFilter(Filter):
    """Events without a stream; with a `symbol_table`, without waits of the device."""

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        if not _has(df, "stream"):
            return df
        return df[(df["stream"] == -1) & ~_waits_of_device(df)] if symbol_table is not None else df[df["stream"] == -1]


def _waits_of_device(df: pd.DataFrame) -> "pd.Series[bool]":
    return df["name"].isin(["Event Sync", "Context Sync"])


class MemCopyEventFilter(Filter):
    """Copies with this name, such as "Memcpy HtoD (Pinned -> Device)"."""

    def __init__(self, memory_copy_type: str, symbol_table: Any = None) -> None:
        self.memory_copy_type = memory_copy_type

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        if not _has(df, "cat", "name"):
            return df
        return df[(df["cat"] == "gpu_memcpy") & (df["name"] == self.memory_copy_type)]


class CompositeFilter(Filter):
    """Applies several filters in order."""

    def __init__(self, filters: Sequence[Filter]) -> None:
        wrong = [one for one in filters if not isinstance(one, Filter)]
        if wrong:
            raise TypeError(f"filters must contain only filters, not {wrong[0]!r}")
        self.filters = list(filters)

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        for one in self.filters:
            df = one(df, symbol_table)
        return df


# -- around an operator --------------------------------------------------------------------------------


class OperatorFilterMethod(enum.Enum):
    """Position of events relative to an operator: within it, after its end, or before its start."""

    Under = 0
    After = 1
    Before = 2


def _occurrence(df: pd.DataFrame, name: str, position: int, column: str) -> Optional["pd.Series[Any]"]:
    """The `position`-th event of that name by start; negative positions count from the end. None if there is none."""
    found = df[df[column] == name].sort_values("ts", kind="stable")
    return found.iloc[position] if -len(found) <= position < len(found) else None


def _with_launched(chosen: pd.DataFrame, df: pd.DataFrame) -> pd.DataFrame:
    """The events, and the device work that the runtime calls among them launched."""
    category = "s_cat" if "s_cat" in df.columns else "cat"
    calls: Set[int] = set(chosen.loc[chosen[category] == "cuda_runtime", "index"])
    return pd.concat([chosen, df[df["index_correlation"].isin(calls)]])


class OperatorFilter(Filter):
    """Events on an operator's stream, within, after or before its `position`-th occurrence (0: first, -1: last); no events
    if there is no such occurrence. `include_gpu_kernels` adds the device work that they launched."""

    def __init__(self, op_name: str, position: int, method: OperatorFilterMethod, include_gpu_kernels: bool = False,
                 name_column: Optional[str] = None) -> None:
        self.op_name = op_name
        self.position = position
        self.method = method
        self.include_gpu_kernels = include_gpu_kernels
        self.name_column = name_column

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        column = self.name_column or _name_column(df)
        if not _has(df, column, "ts", "dur", "stream"):
            return df
        op = _occurrence(df, self.op_name, self.position, column)
        if op is None:
            warnings.warn(f"there is no occurrence {self.position} of {self.op_name!r}", stacklevel=2)
            return df.iloc[:0]
        begin, end = op["ts"], op["ts"] + op["dur"]
        ends = df["ts"] + df["dur"]
        chosen = {OperatorFilterMethod.Under: (df["ts"] >= begin) & (ends <= end),
                  OperatorFilterMethod.After: df["ts"] >= end,
                  OperatorFilterMethod.Before: ends <= begin}[self.method]
        rows = df[chosen & (df["stream"] == op["stream"])]
        return _with_launched(rows, df) if self.include_gpu_kernels else rows


class UnderOperatorFilter(OperatorFilter):
    """Events within an occurrence of an operator."""

    def __init__(self, op_name: str, position: int, include_gpu_kernels: bool = False,
                 name_column: Optional[str] = None) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.Under, include_gpu_kernels, name_column)


class AfterOperatorFilter(OperatorFilter):
    """Events that begin after an occurrence of an operator has ended."""

    def __init__(self, op_name: str, position: int, include_gpu_kernels: bool = False,
                 name_column: Optional[str] = None) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.After, include_gpu_kernels, name_column)


class BeforeOperatorFilter(OperatorFilter):
    """Events that end before an occurrence of an operator begins."""

    def __init__(self, op_name: str, position: int, include_gpu_kernels: bool = False,
                 name_column: Optional[str] = None) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.Before, include_gpu_kernels, name_column)


class CombinedOperatorFilter(Filter):
    """Events of the first profiler step that are within the first `root_op_name`, after the last `preceding_op_name` and before
    the first `following_op_name`. An absent operator does not restrict the events. `stack_depths` selects by the column
    `depth`, if the frame has it (see `TraceAnalysis.get_call_graph`), and keeps device work."""

    def __init__(self, root_op_name: str, preceding_op_name: str, following_op_name: str, include_gpu_kernels: bool = False,
                 stack_depths: Optional[List[int]] = None) -> None:
        self.root_op_name = root_op_name
        self.preceding_op_name = preceding_op_name
        self.following_op_name = following_op_name
        self.include_gpu_kernels = include_gpu_kernels
        self.stack_depths = list(stack_depths or [])

    def __call__(self, df: pd.DataFrame, symbol_table: Any = None) -> pd.DataFrame:
        column = _name_column(df)
        if not _has(df, column, "ts", "dur", "stream"):
            return df
        rows = FirstIterationFilter()(df)
        for name, position, method in ((self.root_op_name, 0, OperatorFilterMethod.Under),
                                       (self.preceding_op_name, -1, OperatorFilterMethod.After),
                                       (self.following_op_name, 0, OperatorFilterMethod.Before)):
            if _occurrence(rows, name, position, column) is not None:
                rows = OperatorFilter(name, position, method, name_column=column)(rows)
        if self.include_gpu_kernels:
            rows = _with_launched(rows, df)
        if self.stack_depths and "depth" in rows.columns:
            rows = rows[(rows["stream"] > 0) | rows["depth"].isin(self.stack_depths)]
        return rows
