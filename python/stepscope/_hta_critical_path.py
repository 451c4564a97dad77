"""A critical path like HTA's CPGraph, and its file format."""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

import pandas as pd

from ._hta_names import shorten_name

Node = Tuple[int, str]
"""One end of an event: the event's index, and begin or end."""

_TABLES = ("bounds", "edges_by_type", "path", "nodes")
_EVENT_COLUMNS = ("cat", "pid", "tid", "stream")


class CPGraph:
    """A critical path: its nodes are begins and ends of events; times in us."""

    def __init__(self, tables: Sequence[pd.DataFrame], data_load_events: Sequence[str], rank: int, asked: Dict[str, str],
                 events: Callable[[], pd.DataFrame]) -> None:
        self._tables = list(tables)
        self._loading = list(data_load_events)
        self._events = events
        self.rank = rank
        self.asked = asked
        """The params of the analysis that computed this path."""
        _, self.edges_by_type, path, nodes = tables
        self.critical_path_nodes: List[Node] = list(zip(nodes["event"].astype("int64").tolist(), nodes["end"].tolist()))
        self.critical_path_events_set: Set[int] = {event for event, _ in self.critical_path_nodes}
        self.critical_path_edges_set: Set[Tuple[Node, Node, str]] = set(
            zip(self.critical_path_nodes, self.critical_path_nodes[1:], "critical_path_" + path["type"]))

    def get_critical_path_breakdown(self) -> pd.DataFrame:
        """One row per edge of the path: event_idx, duration (us), type, s_name, cat, pid, tid, stream (of the event
        that the time belongs to), bound_by. Names are short."""
        path = self._tables[2]
        names = path["name"].fillna("").map(shorten_name)
        bound = path["bound_by"].fillna("").to_numpy(copy=True)
        for text in self._loading:
            bound[(names.str.contains(text) & (path["bound_by"] == "cpu_bound")).to_numpy()] = "data_loading"
        out = pd.DataFrame({"event_idx": path["event"], "duration": in_us(path["time"]),
                            "type": "critical_path_" + path["type"], "s_name": names})
        events = self._events()
        of_events = events[~events.index.duplicated()].reindex(path["event"].astype("float64"))
        for column in _EVENT_COLUMNS:
            out[column] = of_events[column].to_numpy()
        return out.assign(bound_by=bound)

    @property
    def nodes(self) -> List[Node]:
        """The nodes of the path; HTA's graph has those of all events."""
        return self.critical_path_nodes

    def critical_path(self) -> bool:
        """True: the path is known since `critical_path_analysis`."""
        return True

    def to_networkx(self) -> Any:
        """The path as a networkx.DiGraph: a node per (event, end), edges with weight (us) and type. Edges off the path are not kept:
        `edges_by_type` counts them."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from((node, {"event": node[0], "end": node[1]}) for node in self.critical_path_nodes)
        path = self._tables[2]
        for begin, end, weight, kind in zip(self.critical_path_nodes, self.critical_path_nodes[1:], path["time"], path["type"]):
            graph.add_edge(begin, end, weight=weight / 1000, type=f"critical_path_{kind}")
        return graph

    def summary(self) -> "pd.Series[Any]":
        """Percentage of the path's time by bound_by."""
        path = self.get_critical_path_breakdown()
        time = path.groupby("bound_by")["duration"].sum()
        return 100 * time / time.sum()

    def save(self, out_dir: str) -> str:
        """Writes `out_dir`.zip, which contains only tables and texts, and returns its name; `restore_cpgraph` reads it."""
        name = os.path.expanduser(str(out_dir)) + ".zip"
        part = f"{name}.part-{os.getpid()}"
        os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
        try:
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as file:
                head = {"version": 1, "rank": self.rank, "asked": self.asked, "data_load_events": self._loading}
                file.writestr("graph.json", json.dumps(head))
                for what, table in zip(_TABLES, self._tables):
                    file.writestr(f"{what}.csv", table.to_csv(index=False))
                used = self._events()
                used = used.loc[used.index.isin(self._tables[2]["event"].dropna())]
                file.writestr("events.csv", used[list(_EVENT_COLUMNS)].to_csv(index_label="event"))
            os.replace(part, name)
        finally:
            if os.path.exists(part):
                os.remove(part)
        return name


def restore_cpgraph(zip_filename: str, t_full: Any = None, rank: Optional[int] = None) -> CPGraph:
    """Reads a critical path that `CPGraph.save` wrote. `t_full` is accepted for compatibility with HTA but not needed.
    `rank`: if given, the path must be of this rank. Raises ValueError for any other file, such as one saved by HTA."""
    with open(os.path.expanduser(str(zip_filename)), "rb") as stored:
        content = io.BytesIO(stored.read())
    try:
        with zipfile.ZipFile(content) as file:
            head = json.loads(file.read("graph.json"))
            tables = [_read(file, what) for what in _TABLES]
            events = _read(file, "events").set_index("event")
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"{zip_filename} is not a critical path saved by stepscope: {error}") from error
    if rank is not None and rank != head["rank"]:
        raise ValueError(f"{zip_filename} holds the critical path of rank {head['rank']}, not of rank {rank}")
    return CPGraph(tables, head["data_load_events"], int(head["rank"]), head["asked"], lambda: events)


def _read(file: zipfile.ZipFile, what: str) -> pd.DataFrame:
    frame = pd.read_csv(io.BytesIO(file.read(f"{what}.csv")), keep_default_na=False, na_values={"event": [""]})
    if what == "path":
        frame["event"] = frame["event"].astype("Int64")
    return frame


def in_us(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Nanoseconds as microseconds; whole numbers stay whole."""
    out = values / 1000
    return out.astype("int64") if (out.notna() & (out == out.round())).all() else out
