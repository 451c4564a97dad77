"""stepscope says why a training or inference step is slow.

    import stepscope

    trace = stepscope.open("trace.json.gz")             # a file, a folder, or a list: the ranks of one job
    print(trace.report())                               # the verdict, what to change, what it saves
    kernels = trace.analyze("kernels", top=10)          # one analysis; stepscope.analyses() names them all
    kernels[0].to_pandas()                              # or polars, pyarrow, DuckDB: tables speak Arrow
    stepscope.diff(trace, stepscope.open("b.json.gz"))  # what changed, beyond noise

In a notebook, reports, pages and tables draw themselves.
"""

from stepscope._ask import Analysis, Param, analyses
from stepscope._core import version as __version__
from stepscope._errors import Error, MissingFileError, UsageError
from stepscope._report import Page, Report
from stepscope._table import Column, Table
from stepscope._trace import Device, Rank, Trace, diff, open

__all__ = [
    "Analysis",
    "Column",
    "Device",
    "Error",
    "MissingFileError",
    "Page",
    "Param",
    "Rank",
    "Report",
    "Table",
    "Trace",
    "UsageError",
    "analyses",
    "diff",
    "open",
]
