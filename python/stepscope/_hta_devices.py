"""HTA's methods about devices: where their time goes, and their queues, copies and launches."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

import pandas as pd

from ._hta_critical_path import in_us as _us
from ._hta_frames import DESCRIBED, Frames


class Devices(Frames):
    """Where device time goes; queues, copies and launches."""

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
        """Time by kernel type and by kernel name. Names beyond `num_kernels` are merged into "others", whose
        mean, max and min are over the sums by name; `Trace.analyze("kernels")` has statistics over calls."""
        types = self._tables("temporal_breakdown", no_memory=not include_memory_kernels)[1]
        by_type = pd.DataFrame({"kernel_type": types["type"], "sum": _us(types["time"]),
                                "percentage": round(100 * types["share"], 1)})
        frame = self._tables("kernel_breakdown", no_memory=not include_memory_kernels, num_kernels=num_kernels,
                             duration_ratio=100 * duration_ratio)[0]
        kernels = self._durations(frame)
        kernels.insert(6, "kernel_type", frame["type"])
        kernels = kernels.sort_values(["kernel_type", "name", "rank"], ignore_index=True)
        return by_type, kernels

    def get_comm_comp_overlap(self, visualize: bool = True) -> pd.DataFrame:
        """Percentage of each rank's communication that overlaps with computation; NaN without communication."""
        frame = self._tables("temporal_breakdown")[2]
        return pd.DataFrame({"rank": frame["rank"], "comp_comm_overlap_pctg": round(100 * frame["hidden_share"], 2)})

    def get_idle_time_breakdown(self, ranks: Optional[List[int]] = None, streams: Optional[List[int]] = None,
                                visualize: bool = True, visualize_pctg: bool = True,
                                show_idle_interval_stats: bool = False, consecutive_kernel_delay: int = 30,
                                ) -> Tuple[pd.DataFrame, Optional[pd.DataFrame]]:
        """Idle time of each stream by cause and, with `show_idle_interval_stats`, statistics of single gaps."""
        frame = self._of(self._tables("idle_breakdown", kernel_delay=consecutive_kernel_delay)[0], ranks)
        if streams:
            frame = frame[frame["stream"].isin(streams)].reset_index(drop=True)
        idle = pd.DataFrame({"rank": frame["rank"], "stream": frame["stream"], "idle_category": frame["category"],
                             "idle_time": _us(frame["idle"]), "idle_time_ratio": round(frame["share"], 2)})
        if not show_idle_interval_stats:
            return idle, None
        stats = pd.DataFrame({"rank": frame["rank"], "stream": frame["stream"], "count": frame["count"].astype("float64")})
        for column, name in DESCRIBED.items():
            if name != "count":
                stats[name] = round(frame[column].astype("float64") / 1000, 2)
        return idle, stats.set_index(pd.Index(frame["category"], name="idle_category"))

    def get_queue_length_time_series(self, ranks: Optional[List[int]] = None) -> Dict[int, pd.DataFrame]:
        """By rank: ts (us), pid and tid of the stream's events, stream, queue_length, stream by stream."""
        frame = self._of(self._tables("queue_length")[1], ranks)
        out = pd.DataFrame({"ts": _us(frame["time"]), "stream": frame["stream"], "queue_length": frame["length"]})
        found = {}
        for rank in map(int, frame["rank"].unique()):
            found[rank] = out[frame["rank"] == rank].reset_index(drop=True)
            for at, column in enumerate(("pid", "tid"), start=1):
                found[rank].insert(at, column, found[rank]["stream"].map(self._first_on(rank, "stream", column)))
        return found

    def get_queue_length_summary(self, ranks: Optional[List[int]] = None) -> Optional[pd.DataFrame]:
        """describe() of the queue's length over its changes, by rank and stream; None if nothing was queued."""
        frame = self._of(self._tables("queue_length")[0], ranks)
        return None if frame.empty else self._described(frame, ["rank", "stream"], "queue_length")

    def get_time_spent_blocked_on_full_queue(self, time_series: Optional[Dict[int, pd.DataFrame]] = None,
                                             max_queue_length: int = 1024) -> pd.DataFrame:
        """Time in which a stream's queue holds `max_queue_length` or more, us, and its share of the trace. HTA returns one
        stream per rank; this returns all. `time_series` selects the ranks; without it, all ranks."""
        frame = self._tables("queue_length", limit=max_queue_length)[0]
        if time_series is not None:
            frame = frame[frame["rank"].isin(list(time_series))]
        frame = frame[frame["full"] > 0].reset_index(drop=True)
        return pd.DataFrame({"rank": frame["rank"], "stream": frame["stream"],
                             "duration_at_max_queue_length": _us(frame["full"]),
                             "relative_duration_at_max_queue_length": frame["full_share"]})

    def get_memory_bw_time_series(self, ranks: Optional[List[int]] = None) -> Dict[int, pd.DataFrame]:
        """By rank: ts (us), pid of the first copy of that kind, name, memory_bw_gbps (GB/s) of the copies that run then."""
        frame = self._of(self._tables("memory_bandwidth")[1], ranks)
        out = pd.DataFrame({"ts": _us(frame["time"]), "name": frame["kind"], "memory_bw_gbps": frame["rate"] / 1e9})
        found = {}
        for rank in map(int, frame["rank"].unique()):
            found[rank] = out[frame["rank"] == rank].reset_index(drop=True)
            pids = self._first_on(rank, "name", "pid")
            of_kind = {kind: next((pid for name, pid in pids.items() if name.startswith(kind)), None)
                       for kind in found[rank]["name"].unique()}
            found[rank].insert(1, "pid", found[rank]["name"].map(of_kind))
        return found

    def get_memory_bw_summary(self, ranks: Optional[List[int]] = None) -> Optional[pd.DataFrame]:
        """describe() of the bandwidth, GB/s, by rank and kind of copy; None without copies."""
        frame = self._of(self._tables("memory_bandwidth")[0], ranks)
        frame = frame.rename(columns={"kind": "name"})
        return None if frame.empty else self._described(frame, ["rank", "name"], "memory_bw_gbps", 1e9)

    def get_cuda_kernel_launch_stats(self, ranks: Optional[List[int]] = None, runtime_cutoff: int = 50,
                                     launch_delay_cutoff: int = 100, include_memory_events: bool = True,
                                     visualize: bool = True) -> Dict[int, pd.DataFrame]:
        """By rank: correlation, cpu_duration, gpu_duration and launch_delay (us) of each launch. The cut-offs only affect
        HTA's charts; `Trace.analyze("launches", hta_compat=True)` counts the launches beyond them."""
        frame = self._of(self._tables("launch_stats", no_memory=not include_memory_events)[1], ranks)
        out = pd.DataFrame({"correlation": frame["correlation"], "cpu_duration": _us(frame["call"]),
                            "gpu_duration": _us(frame["device_time"]), "launch_delay": _us(frame["delay"])})
        if out.empty:  # HTA's empty frame has one more column
            out.insert(0, "index", [])
        found = {int(rank): out[frame["rank"] == rank].reset_index(drop=True) for rank in frame["rank"].unique()}
        for rank in ranks or self._rank_names[:1]:
            found.setdefault(rank, out.iloc[:0])
        return found
