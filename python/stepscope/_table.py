"""Tables and their columns, and their conversion to data frames."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

from stepscope import _core
from stepscope._ask import whole
from stepscope._column import Column, Value

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

class Table:
    """Named, typed columns with units, and a shape that determines how the table is drawn.

    Any library that reads Arrow accepts it without copying numbers: ``polars.DataFrame(table)``, ``pyarrow.table(table)``,
    ``duckdb.sql("select * from kernels")`` of a variable of that name, ``pandas.DataFrame.from_arrow(table)``.
    """

    def __init__(self, core: _core.Table) -> None:
        self._core = core
        self.title: str = core.title
        self.shape: str = core.shape
        """table, bars, curve, tree, flame, matrix or timeline."""

    @functools.cached_property
    def columns(self) -> list[Column]:
        return [Column(self, i, described) for i, described in enumerate(self._core.columns())]

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._core)

    @overload
    def __getitem__(self, which: str) -> Column: ...  # type: ignore[overload-overlap]

    @overload
    def __getitem__(self, which: SupportsIndex) -> dict[str, Value]: ...  # type: ignore[overload-overlap]

    @overload
    def __getitem__(self, which: object) -> Table: ...

    def __getitem__(self, which: Any) -> Any:
        """A column for a name (KeyError if there is none), a row for a number; a table for a slice, a mask, or a list of names or numbers."""
        if isinstance(which, str):
            return self.columns[self._place(which)]
        if isinstance(which, slice):
            return Table(self._core.rows(list(range(*which.indices(len(self))))))
        if isinstance(which, SupportsIndex) and getattr(which, "shape", ()) == ():
            row = range(len(self))[which.__index__()]
            return {column.name: column[row] for column in self.columns}
        if isinstance(which, (list, tuple)) and which and all(isinstance(name, str) for name in which):
            return Table(self._core.select([self._place(name) for name in which]))
        return Table(self._core.rows(self._rows(which)))

    def _place(self, name: str) -> int:
        for place, column in enumerate(self.columns):
            if column.name == name:
                return place
        raise KeyError(f"there is no column {name!r}; the columns are {', '.join(c.name for c in self.columns)}")

    def _rows(self, which: Any) -> list[int]:
        import numpy

        chosen = numpy.asarray(numpy.ma.filled(which, False) if isinstance(which, numpy.ma.MaskedArray) else which)
        if chosen.size == 0 and chosen.dtype != bool:
            chosen = chosen.astype(int)
        fits = chosen.ndim == 1 and (chosen.dtype == bool and len(chosen) == len(self) or chosen.dtype.kind in "iu")
        if not fits:
            raise TypeError(f"a table is indexed by a column's name, a row's number, a slice, a mask of its {len(self)} rows, or a list of "
                            f"names or numbers; to_pandas() gives a data frame for more")
        rows: list[int] = numpy.arange(len(self))[chosen].tolist()
        return rows

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of that name."""
        return any(column.name == name for column in self.columns)

    def __iter__(self) -> Iterator[dict[str, Value]]:
        """The rows, each a dictionary by column name."""
        names = [column.name for column in self.columns]
        for row in zip(*(column.to_list() for column in self.columns)):
            yield dict(zip(names, row))

    def __repr__(self) -> str:
        return f"<stepscope.Table {self.title!r}: {len(self)} rows, {len(self.columns)} columns>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self._core.fragment()

    def __getstate__(self) -> bytes:
        return self._core.state()

    def __setstate__(self, state: bytes) -> None:
        Table.__init__(self, _core.Table.restored(state))

    def __deepcopy__(self, memo: object) -> Table:
        return self  # it never changes

    __copy__ = functools.partialmethod(__deepcopy__, None)

    def head(self, rows: int = 5) -> Table:
        """The first rows, as a table."""
        number = whole("rows", rows)
        if number < 0:
            raise ValueError(f"rows must not be negative, not {rows}")
        return Table(self._core.head(number))

    def to_text(self, width: int = 100, rows: int = _core.rows_on_terminal) -> str:
        """The text that the terminal shows; ``rows=0`` prints all rows."""
        return self._core.text(width, rows)

    def to_csv(self) -> str:
        """Raw values with a line of names, as ``--format csv`` writes them."""
        return self._core.csv()

    def to_dicts(self) -> list[dict[str, Value]]:
        """The rows, each a dictionary by column name; None where missing."""
        return list(self)

    def to_pandas(self, dtype_backend: Literal["numpy", "pyarrow"] = "numpy") -> pandas.DataFrame:
        """As a data frame that owns its values.

        Integers are ``int64``, or pandas' nullable ``Int64`` if some are missing, so that no nanosecond is rounded. Real numbers
        are ``float64``, NaN where missing; texts are what pandas makes of strings and None. With ``dtype_backend="pyarrow"``
        the columns share this table's memory (needs pyarrow). ``frame.attrs`` has the title and the units.
        """
        import pandas

        if dtype_backend == "pyarrow":
            frame = self.to_arrow().to_pandas(types_mapper=pandas.ArrowDtype)
        elif dtype_backend == "numpy":
            frame = pandas.DataFrame({column.name: column._to_pandas() for column in self.columns}, copy=False)
        else:
            raise ValueError(f"dtype_backend must be 'numpy' or 'pyarrow', not {dtype_backend!r}")
        frame.attrs = {"title": self.title, "units": {c.name: c.unit for c in self.columns if c.unit}}
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """As a pyarrow table that shares this table's memory; units and roles are in the fields' metadata."""
        return self._arrow

    @functools.cached_property
    def _arrow(self) -> pyarrow.Table:
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """As a polars data frame."""
        import polars

        return polars.DataFrame(self)

    def __arrow_c_schema__(self) -> object:
        return self._core.schema()

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._core.schema(), self._core.array()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._core.stream()
