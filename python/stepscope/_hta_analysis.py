"""HTA's TraceAnalysis."""

from __future__ import annotations

import enum
import os
from typing import Any, Dict, List, Optional, Tuple, Union

import pandas as pd

from ._hta_critical_path import CPGraph
from ._hta_critical_path import in_us as _us
from ._hta_devices import Devices
from ._hta_names import shorten_name


class TimeSeriesTypes(enum.Flag):
    """The series that generate_trace_with_counters can draw."""

    QUEUE_LENGTH = enum.auto()
    MEMCPY_BANDWIDTH = enum.auto()


def _other_collective(kernels: pd.DataFrame) -> str:
    other = kernels["name"][kernels["name"].str.contains("nccl", case=False)]
    return "and there is none here" if other.empty else f"and here they are named {other.iloc[0].partition('(')[0]}"


class TraceAnalysis(Devices):
    """All ranks of a folder, of a list of files, or of a dict rank -> file.

    Args:
        trace_files: files by rank, a list of files, or None for all of `trace_dir`.
        trace_dir: the folder that holds the traces; relative names of `trace_files` are joined with it.
        include_last_profiler_step: keep the last profiler step, which HTA drops.

    Files given by rank are these ranks. Otherwise the files say; a single file without a rank is rank 0, several get numbers of
    their own, and of several files of one rank one run is read, each with a warning; HTA keeps only the last file.
    """

    def get_gpu_user_annotation_breakdown(self, use_gpu_annotation: bool = True, visualize: bool = True,
                                          duration_ratio: float = 0.8, num_kernels: int = 1000,
                                          allowlist_patterns: Optional[List[str]] = None,
                                          image_renderer: Optional[str] = None) -> Optional[pd.DataFrame]:
        """Durations of user ranges by name, on the device or on the host; None if there are none. Names that contain a text
        of `allowlist_patterns` are never merged into "others"."""
        frame = self._tables("user_annotations", num_kernels=num_kernels, duration_ratio=100 * duration_ratio,
                             keep=list(allowlist_patterns or []))[0]
        frame = frame[frame["side"] == ("device" if use_gpu_annotation else "host")]
        if frame.empty:
            return None
        return self._durations(frame).sort_values(["rank", "name"], ignore_index=True)

    def get_gpu_kernels_with_user_annotations(self, rank: int, expand_names: bool = True,
                                              shortern_names: bool = True) -> Optional[pd.DataFrame]:
        """Device events, each with the shortest overlapping range on its stream; None if the trace has none. Names are
        texts, not ids of HTA's symbol table, so `expand_names` only adds HTA's s_ columns. `shortern_names` is spelled as in HTA."""
        events = self._tables("user_annotations")[1]
        events = events[events["rank"] == rank].reset_index(drop=True)
        if events.empty:
            return None
        annotation = events["annotation"].fillna("")
        out = self.get_trace_df(rank).set_index("index", drop=False).loc[events["event"]]
        out["user_annotation"] = annotation.to_numpy()
        if expand_names:
            out["s_name"] = [shorten_name(n) for n in out["name"]] if shortern_names else out["name"]
            out["s_cat"] = out["cat"]
            out["s_user_annotation"] = out["user_annotation"]
        return out.reset_index(drop=True)

    def get_potential_stragglers(self, profiler_steps: Optional[List[int]] = None, num_candidates: int = 2,
                                 visualize: bool = False) -> List[int]:
        """Ranks that begin the most uneven collective late. Raises ValueError without several ranks or without collectives,
        where HTA raises other errors. `Trace.analyze("stragglers")` reports which rank delays the others, and why."""
        rows = self._events()
        rows = rows[rows["iteration"].isin(profiler_steps)] if profiler_steps else rows
        if rows["rank"].nunique() < 2:
            raise ValueError("finding stragglers needs several ranks, and this trace has one: open the folder of all ranks")
        iterations = rows["iteration"].dropna()
        count = max(1, iterations[iterations >= 0].nunique())
        mean_step = (rows["end"].max() - rows["ts"].min()) / count
        kernels = rows[rows["stream"] > 0]
        collectives = kernels[kernels["name"].str.startswith("ncclKernel")]
        if collectives.empty:
            raise ValueError(f"HTA finds collectives by names that begin with ncclKernel, {_other_collective(kernels)}, so waiting ranks "
                             f"cannot be found. Trace.analyze('stragglers') knows other names, too")
        collectives = collectives[(collectives["iteration"] > 0) & (collectives["dur"] >= 0.01 * mean_step)]
        if collectives.empty:
            raise ValueError("no recorded collective lasts 1 % of a step or longer, so waiting ranks cannot be found")
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

    def get_aten_op_kernels_and_delay(self, ranks: Optional[List[int]] = None,
                                      sort_by: Optional[List[str]] = None) -> Dict[int, pd.DataFrame]:
        """By rank: the kernels that each aten operator launches in one call, how often, and the mean delays from the operator
        to its first launch and from the launch to the kernel, us. HTA's frame of a rank also includes the earlier ranks;
        this one does not."""
        frame = self._of(self._tables("op_launches")[0], ranks)
        out = pd.DataFrame({"aten_op_name": frame["name"], "kernel_sequence": frame["sequence"],
                            "occurrence_count": frame["calls"],
                            "avg_aten_op_launch_delay": round(frame["launch_delay"].astype("float64") / 1000, 3),
                            "avg_runtime_delay": round(frame["start_delay"].astype("float64") / 1000, 3)})
        wanted = sort_by or ["occurrence_count"]
        return {rank: out[frame["rank"] == rank].sort_values(wanted, ascending=False, kind="stable", ignore_index=True)
                for rank in self._asked(ranks)}

    def get_frequent_cuda_kernel_sequences(self, operator_name: str, output_dir: str = "", min_pattern_len: int = 3,
                                           rank: int = 0, top_k: int = 5, visualize: bool = False,
                                           compress_other_kernels: bool = True) -> pd.DataFrame:
        """Sequences of kernels below an operator's outermost calls, most frequent first. No overlaid trace is written:
        `output_dir`, `top_k` and `compress_other_kernels` are accepted for compatibility with HTA."""
        frame = self._tables("kernel_sequences", operator=operator_name, least=min_pattern_len)[0]
        frame = frame[frame["rank"] == rank].reset_index(drop=True)
        return pd.DataFrame({"pattern": frame["sequence"], "count": frame["count"],
                             "GPU kernel duration (us)": _us(frame["kernel_time"]),
                             "CPU op duration (us)": _us(frame["call_time"])})

    def get_cupti_counter_data_with_operators(self, ranks: Optional[List[int]] = None) -> List[pd.DataFrame]:
        """By rank with counters: the ranges by time as rows of get_trace_df, with a column per counter, and the operators around the
        launch that each range measures (op_stack, top_level_op, bottom_level_op)."""
        counters = self._of(self._frames(self.trace.analyze("cupti_counters", top=0))[0], ranks)
        found = []
        for rank, frame in counters.groupby("rank"):
            events = self.get_trace_df(int(rank))
            out = events[events["cat"] == "cuda_profiler_range"].sort_values("ts", kind="stable").reset_index(drop=True)
            ops = frame.drop_duplicates("range").set_index("range").reindex(out.index).fillna({"ops": "", "top_op": "", "bottom_op": ""})
            out["op_stack"] = [text.split(" > ") if text else [] for text in ops["ops"]]
            out["top_level_op"], out["bottom_level_op"] = ops["top_op"], ops["bottom_op"]
            found.append(out)
        return found

    def critical_path_analysis(self, rank: int = 0, annotation: str = "ProfilerStep",
                               instance_id: Union[int, Tuple[int, int], None] = 0,
                               data_load_events: Optional[List[str]] = None) -> Tuple[Optional[CPGraph], bool]:
        """The longest path through the `instance_id`-th range whose name contains `annotation` ("": the whole recording), and
        whether there is one. A pair (first, last) means the time from the first to the last of these ranges; None means
        the first range. `data_load_events`: operators whose name contains one of these texts count as data loading."""
        first, last = instance_id if isinstance(instance_id, tuple) else (instance_id or 0, instance_id or 0)
        if not 0 <= first <= last:
            raise ValueError(f"instance_id must be a number from 0, or a pair (first, last) with first <= last, not {instance_id}")
        asked = {"annotation": annotation or "all", "instance": f"{first}-{last}"}
        tables = self._tables("critical_path", **asked)
        tables = [frame[frame["rank"] == rank].reset_index(drop=True) for frame in tables]
        if tables[3].empty:
            return None, False
        return CPGraph(tables, list(data_load_events or []), rank, asked, lambda: self.get_trace_df(rank)), True

    def overlay_critical_path_analysis(self, rank: int, critical_path_graph: CPGraph, output_dir: str,
                                       only_show_critical_events: bool = True, show_all_edges: bool = False) -> str:
        """Writes a copy of the rank's FILE to `output_dir` as overlaid_critical_path_FILE and returns its path. Events on the
        critical path have the arg critical=1; arrows follow the path (launches, dependencies, waits).
        `only_show_critical_events` leaves out other events with a duration, except annotations and Python frames; without
        it, `show_all_edges` draws all edges that were found. The input is never overwritten, and the copy is written whole
        or not at all."""
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
        """Writes a copy of the file of each of `ranks` (default: the first rank) beside it, named FILE + `output_suffix`, with
        counters: each stream's queue length and the rate of each kind of copy (GB/s). `time_series` selects one of them."""
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
        """The columns that HTA's CallGraph adds to a trace, by event index: parent, depth, height, num_kernels, kernel_dur_sum,
        first_kernel_start, last_kernel_end, kernel_span (us)."""
        frame = self._tables("events", calls=True)[1]
        frame = frame[frame["rank"] == rank].drop(columns="rank").set_index("index")
        for column in ("kernel_dur_sum", "first_kernel_start", "last_kernel_end"):
            frame[column] = frame[column] / 1000
        frame["kernel_span"] = (frame["last_kernel_end"] - frame["first_kernel_start"]).fillna(0)
        return frame
