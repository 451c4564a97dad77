"""stepscope says why a training or inference step is slow.

    import stepscope

    trace = stepscope.open("trace.json.gz")             # a file, a folder, or a list: the ranks of one job
    print(trace.report())                               # the verdict, what to change, what it saves
    kernels = trace.show.kernels(top=10)                # one analysis; stepscope.analyses() names them all
    kernels[0].to_pandas()                              # or polars, pyarrow, DuckDB: tables speak Arrow
    trace.events(kind="kernel", name="gemm")            # the events themselves; trace.sql() queries them
    stepscope.diff(trace, stepscope.open("b.json.gz"))  # what changed, beyond noise

In a notebook, reports, pages and tables draw themselves, and ``trace.show("timeline")`` is the page.
"""

from stepscope._ask import Analysis, Param, analyses
from stepscope._core import version as __version__
from stepscope._column import Column
from stepscope._errors import Error, FilePermissionError, MissingFileError, UsageError
from stepscope._frame import Frame
from stepscope._report import Gate, Page, Report, Validation
from stepscope._table import Table
from stepscope._trace import Device, Merged, Rank, Trace, diff, explain, gate, merge, open, rules

__all__ = [
    "Analysis",
    "Column",
    "Device",
    "Error",
    "FilePermissionError",
    "Frame",
    "Gate",
    "Merged",
    "MissingFileError",
    "Page",
    "Param",
    "Rank",
    "Report",
    "Table",
    "Trace",
    "UsageError",
    "Validation",
    "analyses",
    "diff",
    "explain",
    "gate",
    "merge",
    "open",
    "rules",
]
