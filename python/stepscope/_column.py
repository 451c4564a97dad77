"""One column of a table, as Python and numpy see it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, Union, overload

from stepscope import _core

if TYPE_CHECKING:
    import pandas

    from stepscope._table import Table

Value = Union[int, float, str, None]
"""The value of a cell; None if missing."""


def _plain(other: object) -> Any:
    return other.to_numpy() if isinstance(other, Column) else other


class Column:
    """A column of a table: name, unit, role, type and values.

    ``column[3]`` is a value, ``column[:3]`` and ``column[mask]`` are numpy arrays, and so are the results of arithmetic and
    comparisons: ``column / 1e6``, ``column > 1000``. Missing integers are masked; ``numpy.asarray(column)`` has NaN for them.
    """

    def __init__(self, table: Table, index: int, described: tuple[str, str, str, str]) -> None:
        self._of = table
        self._index = index
        self.name, self.unit, self.role, self.type = described

    name: str
    unit: str
    """ns, bytes, share (0 to 1), count, flop, flop_per_s, bytes_per_s, flop_per_byte, or "" for none."""
    role: str
    """key (names the row), value, share, depth (of a tree's row) or detail."""
    type: str
    """int64, float64 or text."""

    @property
    def _table(self) -> _core.Table:
        return self._of._core

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Value]:
        return iter(self.to_list())

    def __contains__(self, value: object) -> bool:
        return value in self.to_list()

    def __repr__(self) -> str:
        return f"<stepscope.Column {self.name!r}: {self.type}{', ' + self.unit if self.unit else ''}, {self.role}>"

    def __reduce__(self) -> tuple[Callable[[Table, int], Column], tuple[Table, int]]:
        return _column_of, (self._of, self._index)

    def __deepcopy__(self, memo: object) -> Column:
        return self

    @functools.cached_property
    def _values(self) -> list[Value]:
        return self._table.list(self._index)

    def to_list(self) -> list[Value]:
        """The values as Python objects; None where missing."""
        return list(self._values)

    @overload
    def __getitem__(self, which: SupportsIndex) -> Value: ...

    @overload
    def __getitem__(self, which: object) -> Any: ...

    def __getitem__(self, which: object) -> Any:
        """A value for a number; a numpy array for a slice, a list of numbers or a mask."""
        if isinstance(which, SupportsIndex) and getattr(which, "shape", ()) == ():
            return self._values[which.__index__()]
        return self.to_numpy()[_plain(which)]

    def to_numpy(self) -> Any:
        """The values as a numpy array of shape (rows,).

        Numbers are a read-only view of the column's memory. If integers are missing, the view is a masked array; missing real
        numbers are not finite. Texts are an object array, None where missing.
        """
        import numpy

        numbers = self._table.numbers(self._index)
        if numbers is None:
            return numpy.array(self._values, dtype=object)
        if self.type == "int64":
            missing = numbers == _core.missing_int
            if missing.any():
                return numpy.ma.MaskedArray(numbers, missing)
        return numbers

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        values = self.to_numpy()
        if isinstance(values, numpy.ma.MaskedArray):
            values = numpy.ma.filled(values.astype("float64"), numpy.nan)
        return numpy.array(values, dtype=dtype) if copy else numpy.asarray(values, dtype=dtype)

    def to_pandas(self) -> pandas.Series[Any]:
        """As a series with the column's name, with the dtypes of :meth:`Table.to_pandas`."""
        import pandas

        return pandas.Series(self._to_pandas(), name=self.name)

    def _to_pandas(self) -> Any:
        import numpy
        import pandas

        if self.type == "text":
            return self._pandas_texts()
        values = self.to_numpy()
        if isinstance(values, numpy.ma.MaskedArray):
            return pandas.arrays.IntegerArray(values.data.copy(), values.mask.copy())
        if self.type == "float64":
            return numpy.where(numpy.isfinite(values), values, numpy.nan)
        return values.copy()

    def _pandas_texts(self) -> Any:
        """What pandas makes of strings and None; over Arrow where pandas keeps strings so, which is quicker."""
        import numpy
        import pandas

        dtype = pandas.Series(["text"]).dtype
        if getattr(dtype, "storage", "") == "pyarrow":
            return dtype.__from_arrow__(self._of._arrow.column(self._index))
        return numpy.array(self._values, dtype=object)

    # Arithmetic and comparisons, element by element.

    def _with(self, operation: Callable[[Any, Any], Any], other: object) -> Any:
        return operation(self.to_numpy(), _plain(other))

    def _from(self, operation: Callable[[Any, Any], Any], other: object) -> Any:
        return operation(other, self.to_numpy())

    def __add__(self, other: object) -> Any:
        return self._with(operator.add, other)

    def __radd__(self, other: object) -> Any:
        return self._from(operator.add, other)

    def __sub__(self, other: object) -> Any:
        return self._with(operator.sub, other)

    def __rsub__(self, other: object) -> Any:
        return self._from(operator.sub, other)

    def __mul__(self, other: object) -> Any:
        return self._with(operator.mul, other)

    def __rmul__(self, other: object) -> Any:
        return self._from(operator.mul, other)

    def __truediv__(self, other: object) -> Any:
        return self._with(operator.truediv, other)

    def __rtruediv__(self, other: object) -> Any:
        return self._from(operator.truediv, other)

    def __floordiv__(self, other: object) -> Any:
        return self._with(operator.floordiv, other)

    def __rfloordiv__(self, other: object) -> Any:
        return self._from(operator.floordiv, other)

    def __mod__(self, other: object) -> Any:
        return self._with(operator.mod, other)

    def __rmod__(self, other: object) -> Any:
        return self._from(operator.mod, other)

    def __pow__(self, other: object) -> Any:
        return self._with(operator.pow, other)

    def __rpow__(self, other: object) -> Any:
        return self._from(operator.pow, other)

    def __neg__(self) -> Any:
        return -self.to_numpy()

    def __abs__(self) -> Any:
        return abs(self.to_numpy())

    def __eq__(self, other: object) -> Any:
        return self._with(operator.eq, other)

    def __ne__(self, other: object) -> Any:
        return self._with(operator.ne, other)

    def __lt__(self, other: object) -> Any:
        return self._with(operator.lt, other)

    def __le__(self, other: object) -> Any:
        return self._with(operator.le, other)

    def __gt__(self, other: object) -> Any:
        return self._with(operator.gt, other)

    def __ge__(self, other: object) -> Any:
        return self._with(operator.ge, other)

    __hash__ = None  # type: ignore[assignment]


def _column_of(table: Table, index: int) -> Column:
    return table.columns[index]
