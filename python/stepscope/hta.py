"""Holistic Trace Analysis' interface over stepscope: change the import, keep the notebook.

    from stepscope.hta import TraceAnalysis

Method names, arguments, returned columns, dtypes and units (microseconds) are HTA 0.6.1's, and so are the numbers
(`--hta-compat`), including its rounding to whole microseconds. Each docstring says what differs. If a trace lacks
something and HTA raises, this returns an empty table or raises `ValueError` with a message that says what is missing.

Filters (`IterationFilter`, `NameFilter`, `UnderOperatorFilter`, ...) are called with frames of
`TraceAnalysis.get_trace_df`, whose names and categories are texts.

`visualize`, `visualize_pctg` and `image_renderer` are accepted; no chart is drawn. `Trace.analyze(...)` gives reports
that show themselves in a notebook.
"""

from __future__ import annotations

from ._hta_analysis import TimeSeriesTypes, TraceAnalysis
from ._hta_critical_path import CPGraph, restore_cpgraph
from ._hta_diff import DeviceType, LabeledTrace, TraceDiff
from ._hta_filters import (AfterOperatorFilter, BeforeOperatorFilter, CombinedOperatorFilter, CompositeFilter,
                           CPUOperatorFilter, Filter, FirstIterationFilter, GPUKernelFilter, IterationFilter,
                           IterationIndexFilter, MemCopyEventFilter, NameFilter, NameIdColumnFilter,
                           NameStringColumnFilter, OperatorFilter, OperatorFilterMethod, QueryFilter, RankFilter,
                           TimeRangeFilter, UnderOperatorFilter, ZeroDurationFilter)
from ._hta_frames import Trace, TraceFiles
from ._hta_names import shorten_name

__all__ = ["AfterOperatorFilter", "BeforeOperatorFilter", "CPGraph", "CPUOperatorFilter", "CombinedOperatorFilter",
           "CompositeFilter", "DeviceType", "Filter", "FirstIterationFilter", "GPUKernelFilter", "IterationFilter",
           "IterationIndexFilter", "LabeledTrace", "MemCopyEventFilter", "NameFilter", "NameIdColumnFilter",
           "NameStringColumnFilter", "OperatorFilter", "OperatorFilterMethod", "QueryFilter", "RankFilter",
           "TimeRangeFilter", "TimeSeriesTypes", "Trace", "TraceAnalysis", "TraceDiff", "TraceFiles", "UnderOperatorFilter", "ZeroDurationFilter",
           "restore_cpgraph", "shorten_name"]
