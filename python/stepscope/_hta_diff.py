"""HTA's comparison of two traces by operator name."""

from __future__ import annotations

import enum
from typing import Dict, List, Optional, Sequence, Union

import numpy as np
import pandas as pd

from ._hta_analysis import TraceAnalysis
from ._hta_frames import TraceFiles, as_hta_has_it
from ._hta_names import shorten_name


class DeviceType(enum.Enum):
    """Whether a TraceDiff compares events of the host, of devices, or both."""

    CPU = "CPU"
    GPU = "GPU"
    ALL = "ALL"


class LabeledTrace:
    """A trace and the label of its columns in a TraceDiff. `t`: a TraceAnalysis; without it, `trace_files` or `trace_dir` is
    opened. All steps are kept."""

    def __init__(self, label: str = "trace", t: Optional[TraceAnalysis] = None, trace_dir: str = "",
                 trace_files: TraceFiles = None) -> None:
        self.label = label
        self.t = t if t is not None else TraceAnalysis(trace_files, trace_dir or "/tmp/trace")
        facts, events = self.t._tables("events", everything=True)
        self._events = as_hta_has_it(events)
        earliest = int(facts["earliest"].iloc[0]) // 1000 if len(facts) else 0
        for column in ("ts", "end"):  # HTA shifts no times here
            self._events[column] += earliest

    def ranks(self) -> List[int]:
        """All ranks."""
        return self.t.get_ranks()

    def iterations(self) -> List[int]:
        """All profiler steps."""
        return sorted(int(i) for i in self._events["iteration"].dropna().unique() if i >= 0)

    def extract_ops(self, rank: int, iteration: Union[int, Sequence[int], None] = None,
                    device_type: DeviceType = DeviceType.ALL) -> pd.DataFrame:
        """A rank's events in the given steps (None or an empty list: all), on the host, on the device, or both, indexed by event. Times
        are the file's, in us."""
        if rank not in self.ranks():
            raise ValueError(f"rank {rank} is not among the ranks of this trace: {self.ranks()}")
        rows = self._events[self._events["rank"] == rank].drop(columns="rank")
        rows = rows.set_index("index", drop=False).rename_axis(None)
        if iteration is not None and not (isinstance(iteration, Sequence) and len(iteration) == 0):
            wanted = [iteration] if isinstance(iteration, (int, np.integer)) else list(iteration)
            rows = rows[rows["iteration"].isin(wanted)]
        if device_type is not DeviceType.ALL:
            rows = rows[(rows["stream"] == -1) == (device_type is DeviceType.CPU)]
        return rows

    @staticmethod
    def get_ops_summary(ops: pd.DataFrame) -> pd.DataFrame:
        """Count and total duration (us) by category and name, with the short name."""
        summary = ops.groupby(["cat", "name"])["dur"].agg(counts="count", total_duration="sum").reset_index()
        summary.insert(2, "short_name", [shorten_name(name) for name in summary["name"]])
        return summary


class TraceDiff:
    """Differences of two traces by operator name."""

    @staticmethod
    def _labeled(trace: Union[LabeledTrace, TraceAnalysis, str], label: str) -> LabeledTrace:
        if isinstance(trace, LabeledTrace):
            return trace
        return LabeledTrace(label, t=trace) if isinstance(trace, TraceAnalysis) else LabeledTrace(label, trace_dir=trace)

    @classmethod
    def compare_traces(cls, control: Union[LabeledTrace, TraceAnalysis, str],
                       test: Union[LabeledTrace, TraceAnalysis, str], control_rank: Optional[int] = None,
                       test_rank: Optional[int] = None, control_iteration: Union[int, Sequence[int], None] = None,
                       test_iteration: Union[int, Sequence[int], None] = None,
                       device_type: DeviceType = DeviceType.ALL, use_short_name: bool = False) -> pd.DataFrame:
        """Counts and total durations (us) in both traces, indexed by name, and the differences, test - control. Default: each trace's
        first rank and first step."""
        sides = []
        key = "short_name" if use_short_name else "name"
        for trace, label, rank, iteration in ((control, "Control", control_rank, control_iteration),
                                              (test, "Test", test_rank, test_iteration)):
            side = cls._labeled(trace, label)
            rank = side.ranks()[0] if rank is None else rank
            if iteration is None and side.iterations():
                iteration = side.iterations()[0]
            ops = side.extract_ops(rank, iteration, device_type)
            by_name = side.get_ops_summary(ops).groupby(key)[["counts", "total_duration"]].sum()
            sides.append((side.label if isinstance(trace, LabeledTrace) else label, by_name))
        (label_a, a), (label_b, b) = sides
        out = a.add_prefix(f"{label_a}_").join(b.add_prefix(f"{label_b}_"), how="outer").fillna(0).astype("int64")
        out["diff_counts"] = out[f"{label_b}_counts"] - out[f"{label_a}_counts"]
        out["diff_duration"] = out[f"{label_b}_total_duration"] - out[f"{label_a}_total_duration"]
        out["counts_change_categories"] = np.select([out["diff_counts"] > 0, out["diff_counts"] < 0], ["+", "-"], "=")
        return out.sort_index().rename_axis(key)

    @classmethod
    def ops_diff(cls, control: Union[LabeledTrace, TraceAnalysis, str], test: Union[LabeledTrace, TraceAnalysis, str],
                 control_rank: Optional[int] = None, test_rank: Optional[int] = None,
                 control_iteration: Union[int, Sequence[int], None] = None,
                 test_iteration: Union[int, Sequence[int], None] = None,
                 device_type: DeviceType = DeviceType.ALL) -> Dict[str, List[str]]:
        """Names by the change of their counts: added, deleted, increased, decreased, unchanged."""
        frame = cls.compare_traces(control, test, control_rank, test_rank, control_iteration, test_iteration, device_type)
        before, after = frame.iloc[:, 0], frame.iloc[:, 2]
        named = {"added": (before == 0) & (after > 0), "deleted": (before > 0) & (after == 0),
                 "increased": (before > 0) & (after > before), "decreased": (after > 0) & (after < before),
                 "unchanged": before == after}
        return {what: sorted(frame.index[rows]) for what, rows in named.items()}

    @staticmethod
    def visualize_counts_diff(df: pd.DataFrame, show_image: bool = True) -> None:
        """Draws nothing: `compare_traces(...).plot.barh(y="diff_counts")` does."""

    @staticmethod
    def visualize_duration_diff(df: pd.DataFrame, show_image: bool = True) -> None:
        """Draws nothing: `compare_traces(...).plot.barh(y="diff_duration")` does."""
