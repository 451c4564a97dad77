"""Holistic Trace Analysis' interface over stepscope: change the import, keep the notebook.

    from stepscope.hta import TraceAnalysis

Method names, arguments, returned columns, dtypes and units (microseconds) are HTA 0.6.1's, and so are the numbers
(`--hta-compat`), its rounding to whole microseconds included. What differs is said in each docstring: where HTA raises on
a trace that lacks something, this returns an empty table or raises `ValueError` with a sentence that says what is
missing.

Filters (`IterationFilter`, `NameFilter`, `UnderOperatorFilter`, ...) are called with the frames that
`TraceAnalysis.get_trace_df` gives, whose names and categories are texts.

`visualize`, `visualize_pctg` and `image_renderer` are accepted; no chart is drawn. `Trace.analyze(...)` gives reports
that show themselves in a notebook.
"""

from __future__ import annotations

import enum
import os
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import pandas as pd

from . import Report
from . import open as open_trace
from ._hta_critical_path import CPGraph, restore_cpgraph
from ._hta_critical_path import in_us as _us
from ._hta_filters import (AfterOperatorFilter, BeforeOperatorFilter, CombinedOperatorFilter, CompositeFilter,
                           CPUOperatorFilter, Filter, FirstIterationFilter, GPUKernelFilter, IterationFilter,
                           IterationIndexFilter, MemCopyEventFilter, NameFilter, NameIdColumnFilter,
                           NameStringColumnFilter, OperatorFilter, OperatorFilterMethod, QueryFilter, RankFilter,
                           TimeRangeFilter, UnderOperatorFilter, ZeroDurationFilter)

__all__ = ["AfterOperatorFilter", "BeforeOperatorFilter", "CPGraph", "CPUOperatorFilter", "CombinedOperatorFilter",
           "CompositeFilter", "DeviceType", "Filter", "FirstIterationFilter", "GPUKernelFilter", "IterationFilter",
           "IterationIndexFilter", "LabeledTrace", "MemCopyEventFilter", "NameFilter", "NameIdColumnFilter",
           "NameStringColumnFilter", "OperatorFilter", "OperatorFilterMethod", "QueryFilter", "RankFilter",
           "TimeRangeFilter", "TimeSeriesTypes", "TraceAnalysis", "TraceDiff", "UnderOperatorFilter", "ZeroDurationFilter",
           "restore_cpgraph", "shorten_name"]

TraceFiles = Union[Mapping[int, str], Sequence[str], str, None]

_DESCRIBED = {"count": "count", "mean": "mean", "std": "std", "min": "min", "p25": "25%", "p50": "50%",
              "p75": "75%", "max": "max"}


class TimeSeriesTypes(enum.Flag):
    """What generate_trace_with_counters draws."""

    QUEUE_LENGTH = enum.auto()
    MEMCPY_BANDWIDTH = enum.auto()


class TraceAnalysis:
    """All ranks of a folder, of a list of files, or of a dict rank -> file.

    Args:
        trace_files: files by rank, a list of files, or None for all of `trace_dir`.
        trace_dir: the folder that holds the traces; relative names of `trace_files` are joined with it.
        include_last_profiler_step: keep the last profiler step, which HTA drops.

    A single file that says no rank is rank 0. Files that say the same rank, or none, get numbers of their own with a
    warning that names them; HTA keeps the last of them.
    """

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
            raise ValueError("trace_files gives one file for several ranks: give each rank a file of its own")
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

    # -- frames ------------------------------------------------------------------------------------------

    def _tables(self, analysis: str, **params: Any) -> List[pd.DataFrame]:
        """The tables of an analysis with --hta-compat, each with a column `rank`."""
        if analysis != "hta_trace":
            params["hta_compat"] = True
        return self._frames(self.trace.analyze(analysis, top=0, hta_last_step=self.include_last_profiler_step, **params))

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
        """The rows of `ranks`, HTA's default being rank 0."""
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
        out = frame.set_index(keys)[list(_DESCRIBED)].rename(columns=_DESCRIBED)
        out = out.astype("float64")
        for column in out.columns:
            if column != "count":
                out[column] = out[column] / unit
        out.columns = pd.MultiIndex.from_product([[name], out.columns])
        return out

    # -- where device time goes --------------------------------------------------------------------------

    def get_temporal_breakdown(self, visualize: bool = True) -> pd.DataFrame:
        """Idle, compute and other time of each rank's devices; percentages of kernel_time. Empty without device work."""
        frame = self._tables("temporal_breakdown")[0]
        out = pd.DataFrame({"rank": frame["rank"]})
        names = {"idle": "idle_time", "compute": "compute_time", "non_compute": "non_compute_time"}
        for column, name in names.items():
            out[f"{name}(us)"] = _us(frame[column])
        out["kernel_time(us)"] = _us(frame["total"])
        for name in names.values():
            out[f"{name}_pctg"] = round(100 * out[f"{name}(us)"] / out["kernel_time(us)"], 2)
        return out

    def get_gpu_kernel_breakdown(self, visualize: bool = True, duration_ratio: float = 0.8, num_kernels: int = 10,
                                 include_memory_kernels: bool = True,
                                 image_renderer: Optional[str] = None) -> Tuple[pd.DataFrame, pd.DataFrame]:
        """Time by kernel type and by kernel name. Beyond `num_kernels` names the rest is "others", and then mean, max and
        min are those of sums by name; `Trace.analyze("kernel_breakdown")` gives those of calls."""
        types = self._tables("temporal_breakdown", no_memory=not include_memory_kernels)[1]
        by_type = pd.DataFrame({"kernel_type": types["type"], "sum": _us(types["time"]),
                                "percentage": round(100 * types["share"], 1)})
        frame = self._tables("kernel_breakdown", no_memory=not include_memory_kernels, num_kernels=num_kernels,
                             duration_ratio=100 * duration_ratio)[0]
        kernels = self._durations(frame)
        kernels.insert(6, "kernel_type", frame["type"])
        kernels = kernels.sort_values(["kernel_type", "name", "rank"], ignore_index=True)
        return by_type, kernels

    @staticmethod
    def _durations(frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"name": frame["name"], "sum (us)": _us(frame["sum"]), "max (us)": _us(frame["max"]),
                             "min (us)": _us(frame["min"]), "stddev": frame["std"] / 1000,
                             "mean (us)": frame["mean"] / 1000, "rank": frame["rank"]})

    def get_comm_comp_overlap(self, visualize: bool = True) -> pd.DataFrame:
        """Percentage of each rank's communication that runs behind computation; NaN without communication."""
        frame = self._tables("temporal_breakdown")[2]
        return pd.DataFrame({"rank": frame["rank"], "comp_comm_overlap_pctg": round(100 * frame["hidden_share"], 2)})

    def get_idle_time_breakdown(self, ranks: Optional[List[int]] = None, streams: Optional[List[int]] = None,
                                visualize: bool = True, visualize_pctg: bool = True,
                                show_idle_interval_stats: bool = False, consecutive_kernel_delay: int = 30,
                                ) -> Tuple[pd.DataFrame, Optional[pd.DataFrame]]:
        """Gaps of each stream by cause, and, if asked for, what single gaps are like."""
        frame = self._of(self._tables("idle_breakdown", kernel_delay=consecutive_kernel_delay)[0], ranks)
        if streams:
            frame = frame[frame["stream"].isin(streams)].reset_index(drop=True)
        idle = pd.DataFrame({"rank": frame["rank"], "stream": frame["stream"], "idle_category": frame["category"],
                             "idle_time": _us(frame["idle"]), "idle_time_ratio": round(frame["share"], 2)})
        if not show_idle_interval_stats:
            return idle, None
        stats = pd.DataFrame({"idle_category": frame["category"], "rank": frame["rank"], "stream": frame["stream"],
                              "count": frame["count"].astype("float64")})
        for column, name in _DESCRIBED.items():
            if name != "count":
                stats[name] = round(frame[column].astype("float64") / 1000, 2)
        return idle, stats

    # -- queues, copies, launches ------------------------------------------------------------------------

    def get_queue_length_time_series(self, ranks: Optional[List[int]] = None) -> Dict[int, pd.DataFrame]:
        """By rank: ts (us), stream, queue_length, stream by stream."""
        frame = self._of(self._tables("queue_length")[1], ranks)
        out = pd.DataFrame({"ts": _us(frame["time"]), "stream": frame["stream"], "queue_length": frame["length"]})
        return {int(rank): out[frame["rank"] == rank].reset_index(drop=True) for rank in frame["rank"].unique()}

    def get_queue_length_summary(self, ranks: Optional[List[int]] = None) -> Optional[pd.DataFrame]:
        """describe() of the queue's length over its changes, by rank and stream; None if nothing was queued."""
        frame = self._of(self._tables("queue_length")[0], ranks)
        return None if frame.empty else self._described(frame, ["rank", "stream"], "queue_length")

    def get_time_spent_blocked_on_full_queue(self, time_series: Optional[Dict[int, pd.DataFrame]] = None,
                                             max_queue_length: int = 1024) -> pd.DataFrame:
        """Time in which a stream's queue holds `max_queue_length` or more, us, and its share of the trace. HTA keeps one
        stream of a rank, this all; without `time_series`, all ranks."""
        frame = self._tables("queue_length", limit=max_queue_length)[0]
        if time_series is not None:
            frame = frame[frame["rank"].isin(list(time_series))]
        frame = frame[frame["full"] > 0].reset_index(drop=True)
        return pd.DataFrame({"rank": frame["rank"], "stream": frame["stream"],
                             "duration_at_max_queue_length": _us(frame["full"]),
                             "relative_duration_at_max_queue_length": frame["full_share"]})

    def get_memory_bw_time_series(self, ranks: Optional[List[int]] = None) -> Dict[int, pd.DataFrame]:
        """By rank: ts (us), name, memory_bw_gbps (GB/s) of what runs at the time."""
        frame = self._of(self._tables("memory_bandwidth")[1], ranks)
        out = pd.DataFrame({"ts": _us(frame["time"]), "name": frame["kind"], "memory_bw_gbps": frame["rate"] / 1e9})
        return {int(rank): out[frame["rank"] == rank].reset_index(drop=True) for rank in frame["rank"].unique()}

    def get_memory_bw_summary(self, ranks: Optional[List[int]] = None) -> Optional[pd.DataFrame]:
        """describe() of the bandwidth, GB/s, by rank and kind of copy; None without copies."""
        frame = self._of(self._tables("memory_bandwidth")[0], ranks)
        frame = frame.rename(columns={"kind": "name"})
        return None if frame.empty else self._described(frame, ["rank", "name"], "memory_bw_gbps", 1e9)

    def get_cuda_kernel_launch_stats(self, ranks: Optional[List[int]] = None, runtime_cutoff: int = 50,
                                     launch_delay_cutoff: int = 100, include_memory_events: bool = True,
                                     visualize: bool = True) -> Dict[int, pd.DataFrame]:
        """By rank: correlation, cpu_duration, gpu_duration and launch_delay (us) of each launch. The cut-offs only choose
        what HTA's charts show; `Trace.analyze("launch_stats")` counts what is beyond them."""
        frame = self._of(self._tables("launch_stats", no_memory=not include_memory_events)[1], ranks)
        out = pd.DataFrame({"correlation": frame["correlation"], "cpu_duration": _us(frame["call"]),
                            "gpu_duration": _us(frame["device_time"]), "launch_delay": _us(frame["delay"])})
        if out.empty:  # HTA's empty frame has a column more
            out.insert(0, "index", [])
        found = {int(rank): out[frame["rank"] == rank].reset_index(drop=True) for rank in frame["rank"].unique()}
        for rank in ranks or self._rank_names[:1]:
            found.setdefault(rank, out.iloc[:0])
        return found

    # -- annotations, steps, events ----------------------------------------------------------------------

    def get_gpu_user_annotation_breakdown(self, use_gpu_annotation: bool = True, visualize: bool = True,
                                          duration_ratio: float = 0.8, num_kernels: int = 1000,
                                          allowlist_patterns: Optional[List[str]] = None,
                                          image_renderer: Optional[str] = None) -> Optional[pd.DataFrame]:
        """Durations of the program's ranges by name, on the device or on the host; None if there are none. Names that
        contain a text of `allowlist_patterns` never become "others"."""
        frame = self._tables("user_annotations", num_kernels=num_kernels, duration_ratio=100 * duration_ratio,
                             keep=list(allowlist_patterns or []))[0]
        frame = frame[frame["side"] == ("device" if use_gpu_annotation else "host")]
        if frame.empty:
            return None
        return self._durations(frame).sort_values(["rank", "name"], ignore_index=True)

    def get_gpu_kernels_with_user_annotations(self, rank: int, expand_names: bool = True,
                                              shorten_names: bool = True) -> Optional[pd.DataFrame]:
        """Device events with the shortest range of their stream that they overlap; None if the trace has none. Names are
        texts where HTA has ids of its symbol table, so `expand_names` only adds its s_ columns."""
        events = self._tables("user_annotations")[1]
        events = events[events["rank"] == rank].reset_index(drop=True)
        if events.empty:
            return None
        annotation = events["annotation"].fillna("")
        out = self.get_trace_df(rank).set_index("index", drop=False).loc[events["event"]]
        out["user_annotation"] = annotation.to_numpy()
        if expand_names:
            out["s_name"] = [shorten_name(n) for n in out["name"]] if shorten_names else out["name"]
            out["s_cat"] = out["cat"]
            out["s_user_annotation"] = out["user_annotation"]
        return out

    def get_potential_stragglers(self, profiler_steps: Optional[List[int]] = None, num_candidates: int = 2,
                                 visualize: bool = False) -> List[int]:
        """Ranks that begin the most uneven collective late. Without several ranks or collectives HTA raises; this raises
        ValueError with a sentence. `Trace.analyze("stragglers")` says which rank holds the others up, and why."""
        rows = self._events()
        rows = rows[rows["iteration"].isin(profiler_steps)] if profiler_steps else rows
        if rows["rank"].nunique() < 2:
            raise ValueError("stragglers are found by comparing ranks, and this trace has one: give the folder of all ranks")
        iterations = rows["iteration"].dropna()
        count = max(1, iterations[iterations >= 0].nunique())
        mean_step = (rows["end"].max() - rows["ts"].min()) / count
        collectives = rows[rows["name"].str.startswith("ncclKernel") & (rows["stream"] > 0) & (rows["iteration"] > 0) &
                           (rows["dur"] >= 0.01 * mean_step)]
        if collectives.empty:
            raise ValueError("no collective of at least 1 % of a step was recorded, so no rank can be seen to wait")
        last = collectives.groupby(["rank", "stream", "iteration", "name"]).last().reset_index()
        last["share"] = last["dur"] / mean_step
        spread = last.groupby(["stream", "iteration", "name"])["share"].std()
        stream, name = spread.groupby(["stream", "name"]).mean().idxmax()
        chosen = last[(last["stream"] == stream) & (last["name"] == name)].copy()
        chosen["start"] = (chosen["ts"] - rows["ts"].min()) / mean_step
        flagged: List[int] = []
        for _, step in chosen.groupby("iteration"):
            least = step["start"].nlargest(num_candidates).iloc[-1]
            flagged.extend(int(rank) for rank in step.loc[step["start"] >= least, "rank"])
        counts = pd.Series(flagged).value_counts(sort=False).sort_values(ascending=False, kind="stable")
        return sorted(int(rank) for rank in counts.index[:num_candidates])

    def get_profiler_steps(self) -> List[int]:
        """Numbers of the profiler steps, without the last one unless include_last_profiler_step."""
        events = self._events()
        return sorted(int(step) for step in events["iteration"].dropna().unique() if step >= 0)

    def get_trace_df(self, rank: int) -> pd.DataFrame:
        """HTA's table of a rank's events: whole microseconds since the earliest event of all ranks. Names and categories
        are texts."""
        events = self._events()
        if rank not in self._rank_names:
            raise ValueError(f"rank {rank} is not among the ranks of this trace: {sorted(self._rank_names)}")
        frame = events[events["rank"] == rank].drop(columns="rank")
        return frame.set_index("index", drop=False).rename_axis(None)

    # -- operators ---------------------------------------------------------------------------------------

    def get_aten_op_kernels_and_delay(self, ranks: Optional[List[int]] = None,
                                      sort_by: Optional[List[str]] = None) -> Dict[int, pd.DataFrame]:
        """By rank: what each aten operator launches in one call, how often, mean delay from the operator to its first
        launch and from there to the kernel, us. HTA's frame of a rank also holds the ranks before it; this does not."""
        frame = self._of(self._tables("op_launches")[0], ranks)
        out = pd.DataFrame({"aten_op_name": frame["name"], "kernel_sequence": frame["sequence"],
                            "occurrence_count": frame["calls"],
                            "avg_aten_op_launch_delay": round(frame["launch_delay"].astype("float64") / 1000, 3),
                            "avg_runtime_delay": round(frame["start_delay"].astype("float64") / 1000, 3)})
        wanted = sort_by or ["occurrence_count"]
        return {int(rank): out[frame["rank"] == rank].sort_values(wanted, ascending=False, kind="stable",
                                                                  ignore_index=True)
                for rank in frame["rank"].unique()}

    def get_frequent_cuda_kernel_sequences(self, operator_name: str, output_dir: str = "", min_pattern_len: int = 3,
                                           rank: int = 0, top_k: int = 5, visualize: bool = False,
                                           compress_other_kernels: bool = True) -> pd.DataFrame:
        """Sequences of kernels below an operator's outermost calls, most frequent first. No overlaid trace is written:
        `output_dir`, `top_k` and `compress_other_kernels` are accepted for HTA's sake."""
        frame = self._tables("kernel_sequences", operator=operator_name, least=min_pattern_len)[0]
        frame = frame[frame["rank"] == rank].reset_index(drop=True)
        return pd.DataFrame({"pattern": frame["sequence"], "count": frame["count"],
                             "GPU kernel duration (us)": _us(frame["kernel_time"]),
                             "CPU op duration (us)": _us(frame["call_time"])})

    def get_cupti_counter_data_with_operators(self, ranks: Optional[List[int]] = None) -> List[pd.DataFrame]:
        """By rank with counters: kernels, the operators around their launches (op_stack, top_level_op,
        bottom_level_op), and a column per counter."""
        counters = self._of(self._frames(self.trace.analyze("cupti_counters", top=0))[0], ranks)
        keys = ["range", "kernel", "top_op", "bottom_op", "ops"]
        found = []
        for _, frame in counters.groupby("rank"):
            frame = frame.fillna({key: "" for key in keys[1:]})
            wide = frame.pivot_table(index=keys, columns="counter", values="value", sort=False).reset_index()
            wide = wide.sort_values("range", ignore_index=True)
            wide["op_stack"] = [ops.split(" > ") if ops else [] for ops in wide["ops"]]
            wide = wide.rename(columns={"kernel": "name", "top_op": "top_level_op", "bottom_op": "bottom_level_op"})
            found.append(wide.drop(columns=["ops", "range"]).rename_axis(None, axis=1))
        return found

    def critical_path_analysis(self, rank: int = 0, annotation: str = "ProfilerStep",
                               instance_id: Union[int, Tuple[int, int], None] = 0,
                               data_load_events: Optional[List[str]] = None) -> Tuple[Optional[CPGraph], bool]:
        """The longest path through the `instance_id`-th range whose name holds `annotation` ("": all of the recording), and
        whether there is one. A pair (first, last) is the time from the first of these ranges to the last one; None is the
        first. `data_load_events`: texts that mark operators as data loading."""
        first, last = instance_id if isinstance(instance_id, tuple) else (instance_id or 0, instance_id or 0)
        if not 0 <= first <= last:
            raise ValueError(f"instance_id is a number from 0 or a pair of them, the first before the last, not {instance_id}")
        asked = {"annotation": annotation or "all", "instance": f"{first}-{last}"}
        tables = self._tables("critical_path", **asked)
        tables = [frame[frame["rank"] == rank].reset_index(drop=True) for frame in tables]
        if tables[3].empty:
            return None, False
        return CPGraph(tables, list(data_load_events or []), rank, asked, lambda: self.get_trace_df(rank)), True

    def overlay_critical_path_analysis(self, rank: int, critical_path_graph: CPGraph, output_dir: str,
                                       only_show_critical_events: bool = True, show_all_edges: bool = False) -> str:
        """Writes overlaid_critical_path_FILE of the rank's FILE to `output_dir` and returns its name: events on the path
        have the arg critical=1, arrows lead along it (launches, dependencies, waits). `only_show_critical_events` leaves
        other events with a duration out, but for annotations and Python frames; else `show_all_edges` draws all edges that
        were found. The input is never overwritten, and a file appears whole or not at all."""
        if critical_path_graph.rank != rank:
            raise ValueError(f"this is the critical path of rank {critical_path_graph.rank}, not of rank {rank}")
        source = self._file_of(rank)
        os.makedirs(os.path.expanduser(output_dir), exist_ok=True)
        output = os.path.join(os.path.expanduser(output_dir), "overlaid_critical_path_" + os.path.basename(source))
        self._overlay(rank, output, ["critical_path"], only_critical=only_show_critical_events,
                      all_edges=show_all_edges and not only_show_critical_events, **critical_path_graph.asked)
        return output

    def generate_trace_with_counters(self, time_series: Optional[TimeSeriesTypes] = None,
                                     ranks: Optional[List[int]] = None, output_suffix: str = "_with_counters") -> None:
        """Writes, beside the file of each of `ranks` (rank 0), a copy named FILE + `output_suffix` with the length of each
        stream's queue and the rate of each kind of copy (GB/s) as counters; `time_series` chooses one of them."""
        wanted = time_series or TimeSeriesTypes.QUEUE_LENGTH | TimeSeriesTypes.MEMCPY_BANDWIDTH
        series = {TimeSeriesTypes.QUEUE_LENGTH: "queue_length", TimeSeriesTypes.MEMCPY_BANDWIDTH: "memory_bandwidth"}
        for rank in ranks or self._rank_names[:1]:
            stem, ending = self._file_of(rank), ""
            while os.path.splitext(stem)[1] in (".json", ".gz"):
                stem, ending = stem[:stem.rindex(".")], stem[stem.rindex("."):] + ending
            output = stem + (output_suffix or "_with_counters") + (ending or ".json")
            self._overlay(rank, output, [name for kind, name in series.items() if kind in wanted])

    def _file_of(self, rank: int) -> str:
        if rank not in self._rank_names:
            raise ValueError(f"rank {rank} is not among the ranks of this trace: {sorted(self._rank_names)}")
        return self.trace.ranks[self._rank_names.index(rank)].path

    def _overlay(self, rank: int, output: str, what: List[str], **params: Any) -> None:
        self.trace._overlay(self._rank_names.index(rank), output, what, hta_compat=True,
                            hta_last_step=self.include_last_profiler_step, **params)

    def get_call_graph(self, rank: int = 0) -> pd.DataFrame:
        """The columns HTA's CallGraph adds to a trace, by event index: parent, depth, height, num_kernels, kernel_dur_sum,
        first_kernel_start, last_kernel_end, kernel_span (us)."""
        frame = self._tables("hta_trace", calls=True)[1]
        frame = frame[frame["rank"] == rank].drop(columns="rank").set_index("index")
        for column in ("kernel_dur_sum", "first_kernel_start", "last_kernel_end"):
            frame[column] = frame[column] / 1000
        frame["kernel_span"] = (frame["last_kernel_end"] - frame["first_kernel_start"]).fillna(0)
        return frame

    def get_ranks(self) -> List[int]:
        """All ranks."""
        return sorted(self._rank_names)

    def get_device_type(self, rank: int) -> str:
        """"NVIDIA GPU", "AMD GPU", "MTIA" or "UNKNOWN GPU", as HTA tells it by names of calls."""
        facts = self._facts()
        return str(facts.loc[facts["rank"] == rank, "device_type"].iloc[0])

    def _facts(self) -> pd.DataFrame:
        self._events()
        return self._hta_facts

    def _events(self) -> pd.DataFrame:
        """HTA's rows of all ranks, made when they are first asked for."""
        if not hasattr(self, "_hta_events"):
            report = self._tables("hta_trace")
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


class DeviceType(enum.Enum):
    """Which side's events a TraceDiff compares."""

    CPU = "CPU"
    GPU = "GPU"
    ALL = "ALL"


class LabeledTrace:
    """A trace and the name that its columns carry in a TraceDiff. `t`: a TraceAnalysis; else `trace_dir` or files are
    opened. All steps are kept."""

    def __init__(self, label: str = "trace", t: Optional[TraceAnalysis] = None, trace_dir: str = "",
                 trace_files: TraceFiles = None) -> None:
        self.label = label
        self.t = t if t is not None else TraceAnalysis(trace_files, trace_dir or "/tmp/trace")
        events = self.t._tables("hta_trace", everything=True)[1]
        events["dur"] = events["dur"] // 1000
        self._events = events

    def ranks(self) -> List[int]:
        """All ranks."""
        return self.t.get_ranks()

    def iterations(self) -> List[int]:
        """All profiler steps."""
        return sorted(int(i) for i in self._events["iteration"].dropna().unique() if i >= 0)

    def extract_ops(self, rank: int, iteration: Union[int, Sequence[int], None] = None,
                    device_type: DeviceType = DeviceType.ALL) -> pd.DataFrame:
        """A rank's events of the given steps (None: of all), on the host, on the device, or both."""
        rows = self._events[self._events["rank"] == rank]
        if iteration is not None:
            wanted = [iteration] if isinstance(iteration, (int, np.integer)) else list(iteration)
            rows = rows[rows["iteration"].isin(wanted)]
        if device_type is not DeviceType.ALL:
            rows = rows[(rows["stream"] == -1) == (device_type is DeviceType.CPU)]
        return rows

    @staticmethod
    def get_ops_summary(ops: pd.DataFrame, use_short_name: bool = False) -> pd.DataFrame:
        """Count and total duration (us) by name."""
        names = ops["name"].map(shorten_name) if use_short_name else ops["name"]
        summary = ops.groupby(names.rename("name"))["dur"].agg(counts="count", total_duration="sum")
        return summary.reset_index()


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
        """Counts and total durations (us) by name in both, and their differences, test - control. Default: each side's
        first rank and first step."""
        sides = []
        for trace, label, rank, iteration in ((control, "Control", control_rank, control_iteration),
                                              (test, "Test", test_rank, test_iteration)):
            side = cls._labeled(trace, label)
            rank = side.ranks()[0] if rank is None else rank
            if iteration is None and side.iterations():
                iteration = side.iterations()[0]
            ops = side.extract_ops(rank, iteration, device_type)
            sides.append((side.label if isinstance(trace, LabeledTrace) else label,
                          side.get_ops_summary(ops, use_short_name).set_index("name")))
        (label_a, a), (label_b, b) = sides
        out = a.add_prefix(f"{label_a}_").join(b.add_prefix(f"{label_b}_"), how="outer").fillna(0).astype("int64")
        out["diff_counts"] = out[f"{label_b}_counts"] - out[f"{label_a}_counts"]
        out["diff_duration"] = out[f"{label_b}_total_duration"] - out[f"{label_a}_total_duration"]
        out["counts_change_categories"] = np.select([out["diff_counts"] > 0, out["diff_counts"] < 0], ["+", "-"], "=")
        out = out.sort_values("diff_duration", ascending=False, kind="stable").rename_axis(
            "short_name" if use_short_name else "name")
        return out.reset_index()

    @classmethod
    def ops_diff(cls, control: Union[LabeledTrace, TraceAnalysis, str], test: Union[LabeledTrace, TraceAnalysis, str],
                 control_rank: Optional[int] = None, test_rank: Optional[int] = None,
                 control_iteration: Union[int, Sequence[int], None] = None,
                 test_iteration: Union[int, Sequence[int], None] = None,
                 device_type: DeviceType = DeviceType.ALL) -> Dict[str, List[str]]:
        """Names by what became of their counts: added, deleted, increased, decreased, unchanged."""
        frame = cls.compare_traces(control, test, control_rank, test_rank, control_iteration, test_iteration, device_type)
        before, after = frame.iloc[:, 1], frame.iloc[:, 3]
        named = {"added": (before == 0) & (after > 0), "deleted": (before > 0) & (after == 0),
                 "increased": (before > 0) & (after > before), "decreased": (after > 0) & (after < before),
                 "unchanged": before == after}
        return {what: sorted(frame.loc[rows].iloc[:, 0]) for what, rows in named.items()}
