"""Values of types that NumPy lacks, such as categories: pandas's array of them, lazily."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionDtype
from pandas.arrays import NumpyExtensionArray

from marsdask.core.collection import Collection
from marsdask.core.node import Node
from marsdask.core.protocol.finalization import rebuild
from marsdask.core.public import public_call, public_methods, returns_itself
from marsdask.core.registry import class_of
from marsdask.core.sizes import Index as Position

from .. import protocols
from ..collection import Rows
from ..create import in_memory, series_from_tensor
from ..display import html
from ..elementwise.rowwise import Method, rowwise, to_series
from ..keyed.unique import distinct_values as rows_of_distinct_values
from ..labels import index_methods as methods
from ..nodes.frame_node import PlainValues
from ..ordered.row_numbers import reset_index
from ..tensors import in_utc, to_tensor
from ..whole.fallback import function_with_fallback, missing_attribute

if TYPE_CHECKING:
    from marsdask.core.session import Session
    from marsdask.tensor import Tensor

    from ..index import Index
    from ..series import Series

#: What an array of categories tells of these.
OF_CATEGORIES = frozenset({"categories", "codes", "ordered"})

#: The logical operators of two values.
LOGICAL = frozenset({"__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__"})

#: What to use instead of another name of pandas's arrays.
CONVERSIONS = "compute() for pandas's array, or md.Series() of the values"


def values_of(rows: Any) -> Tensor | ExtensionValues:
    """Return the values of a series or an index. See pandas.Series.values."""
    dtype, labels = rows.node.meta.dtype, isinstance(rows.node.meta, pd.Index)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return to_tensor(rowwise(in_utc, rows))
    objects = pd.PeriodDtype if labels else pd.PeriodDtype | pd.IntervalDtype
    if not isinstance(dtype, ExtensionDtype) or isinstance(dtype, objects):
        return to_tensor(rows)
    return ExtensionValues(rows)


@public_call
@function_with_fallback
def unique(values: Any) -> Tensor | ExtensionValues | Index:
    """Return the distinct values, in order of first occurrence. See pandas.unique.

    Parameters
    ----------
    values : Series, Index, Tensor or array of one axis
        The values.

    Returns
    -------
    Tensor, ExtensionValues or Index
        Each value once: an Index of one, else a tensor where NumPy has the type.

    Raises
    ------
    TypeError
        For a list, as in pandas.

    Examples
    --------
    >>> md.unique(md.Series([2, 1, 2])).compute()
    array([2, 1])
    """
    if isinstance(values, list | tuple):
        raise TypeError(
            f"unique requires a Series, Tensor or np.ndarray, got {type(values).__name__}."
        )
    if not isinstance(values, Collection):
        data = values if isinstance(values, pd.Index) else pd.Series(values, copy=True)
        values = in_memory(data, None, None, copy=True)
    elif isinstance(values.node.meta, np.ndarray):
        values = series_from_tensor(values)
    distinct: Tensor | ExtensionValues | Index = values.unique()
    times = isinstance(values.node.meta, pd.Series) and isinstance(distinct.dtype, np.dtype)
    return to_tensor(distinct) if times and isinstance(distinct, ExtensionValues) else distinct


def distinct_values(series: Any) -> Tensor | ExtensionValues:
    """Return the distinct values, in order of first occurrence. See pandas.Series.unique."""
    values: Tensor | ExtensionValues = array_of(rows_of_distinct_values(series))
    return values


def array_of(result: Any) -> Any:
    """Return rows as pandas has their values on their own; what has no rows stays as it is."""
    if not isinstance(result, Rows) or result.node.meta.ndim > 1:
        return result
    numbers = isinstance(result.node.meta.array, NumpyExtensionArray)
    return to_tensor(result) if numbers else ExtensionValues(result)


def _labels(rows: Any) -> Any:
    """Return rows as an index without a name."""
    index = rows if isinstance(rows.node.meta, pd.Index) else methods.as_index(rows)
    return index if index.name is None else methods.rename(index, None)


def _as_series(values: Any) -> Any:
    if not isinstance(values, ExtensionValues):
        return values
    return rowwise(to_series, values, name=None)


def rebuild_values(graph: Mapping[Any, Any], *args: Any, **kwargs: Any) -> ExtensionValues:
    """Return the values over a graph with their keys, for ``__dask_postpersist__``."""
    return ExtensionValues(rebuild(graph, *args, **kwargs).node)


def own_values(name: str) -> Callable[..., ExtensionValues]:
    """Return the method of a series of that name as one of values, which gives such values."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return ExtensionValues(getattr(_as_series(self), name)(*args, **kwargs))

    return _documented(call, name)


def of_series(name: str) -> Callable[..., Tensor | ExtensionValues]:
    """Return the method of a series of that name as one of values."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        args = tuple(_as_series(value) for value in args)
        return array_of(getattr(_as_series(self), name)(*args, **kwargs))

    return _documented(call, name)


def operation(name: str) -> Callable[..., Tensor | ExtensionValues]:
    """Return an operator; that of values of NumPy's types gives an array of pandas, too."""

    def call(self: Any, *others: Any) -> Any:
        if any(isinstance(other, Rows) and not isinstance(other, PlainValues) for other in others):
            return NotImplemented  # rows have labels, and an operator that takes values
        numbers = isinstance(self.node.meta.array, NumpyExtensionArray)
        if numbers and name in LOGICAL:
            return NotImplemented  # pandas's arrays of NumPy's types have none of these
        if name == "__neg__" and self.dtype.kind == "b":
            raise TypeError("the boolean negative, `-`, is not supported; use `~`")
        sides = [self, *others]
        if any(isinstance(other, ExtensionValues) for other in others):
            sides = _beside(*sides)
        result = getattr(_as_series(sides[0]), name)(*sides[1:])
        return ExtensionValues(result) if numbers else array_of(result)

    return _documented(call, name)


def _beside(one: ExtensionValues, other: ExtensionValues) -> list[Any]:
    """Return two runs of values as series whose labels are their numbers."""
    sizes = one.size, other.size
    if sizes[0] != sizes[1] and not any(map(np.isnan, sizes)):
        raise ValueError(
            f"operands could not be broadcast together with shapes ({sizes[0]},) ({sizes[1]},)"
        )
    return [reset_index(_as_series(values), drop=True) for values in (one, other)]


def _documented(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    call.__name__ = name
    call.__doc__ = f"Return what ``{name}`` makes of the values. See pandas.Series.{name}."
    return call


@public_methods
class ExtensionValues(PlainValues, Rows):
    """The values of a series or an index, as pandas has them: ``compute()`` gives its array.

    ``series.array``, and ``series.values`` and ``series.unique()`` of a type that NumPy lacks, are
    of this class. ``to_tensor()`` gives a tensor of objects.

    Parameters
    ----------
    data : Series or Index
        The values.

    Examples
    --------
    >>> values = md.Series(["a", "b", "a"], dtype="category").unique()
    >>> values.compute()
    ['a', 'b']
    Categories (2, str): ['a', 'b']
    """

    __slots__ = ()

    def __init__(self, data: Any, session: Session | None = None) -> None:
        if not isinstance(data, Node) and data.node.meta.dtype == np.float16:
            raise NotImplementedError(
                "pandas's array of float16 is not supported; use to_tensor(), or astype() first"
            )
        super().__init__(data if isinstance(data, Node) else _labels(data).node, session)

    @classmethod
    def _assemble(cls, blocks: Mapping[Position, Any], meta: Any, *, owned: bool) -> Any:
        return cls._given(super()._assemble(blocks, meta, owned=owned))

    @classmethod
    def _given(cls, value: Any) -> Any:
        return value.array.copy() if isinstance(value, pd.Index) else value

    def __dask_postpersist__(self) -> tuple[Any, tuple[Any, ...]]:
        return rebuild_values, super().__dask_postpersist__()[1]

    @property
    def dtype(self) -> Any:
        """The type of the values."""
        return self._meta.dtype

    @property
    def ndim(self) -> int:
        """The number of axes, 1."""
        return 1

    @property
    def size(self) -> int | float:
        """The number of values, nan if it is unknown."""
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        values = methods.chosen(self._index, key)
        return ExtensionValues(values) if isinstance(values, Rows) else values

    def to_series(self) -> Series:
        """Return the values as a series that is labelled by them."""
        series: Series = _as_series(self)
        return series

    @returns_itself
    def copy(self) -> ExtensionValues:
        """Return the values themselves, which never change."""
        return self

    def astype(self, dtype: Any, copy: bool = True) -> Tensor | ExtensionValues:
        """Cast the values: to a tensor if NumPy has the type."""
        del copy
        return values_of(rowwise(Method("astype"), self, dtype))

    def __repr__(self) -> str:
        if self._is_executed() and self.shape[0] <= pd.get_option("display.max_seq_items"):
            return repr(self.fetch())
        return self._describe()

    def _repr_html_(self) -> str:
        return html(self._index)

    @property
    def _index(self) -> Any:
        return class_of(self._node.meta)(self._node, self._session)

    def __getattr__(self, name: str) -> Any:
        if name in OF_CATEGORIES and isinstance(self._node.meta.dtype, pd.CategoricalDtype):
            return array_of(getattr(_as_series(self).cat, name))
        return missing_attribute(self, name, type(self._node.meta.array), CONVERSIONS)

    tolist: Final = protocols.tolist

    dropna: Final = own_values("dropna")
    fillna: Final = own_values("fillna")
    isin: Final = of_series("isin")
    isna: Final = of_series("isna")
    max: Final = of_series("max")
    min: Final = of_series("min")
    notna: Final = of_series("notna")
    repeat: Final = own_values("repeat")
    take: Final = own_values("take")
    unique: Final = own_values("drop_duplicates")

    __hash__ = None  # type: ignore[assignment]
    __abs__ = operation("__abs__")
    __invert__ = operation("__invert__")
    __neg__ = operation("__neg__")
    __pos__ = operation("__pos__")
    __and__ = operation("__and__")
    __rand__ = operation("__rand__")
    __or__ = operation("__or__")
    __ror__ = operation("__ror__")
    __xor__ = operation("__xor__")
    __rxor__ = operation("__rxor__")
    __eq__ = operation("__eq__")  # type: ignore[assignment]
    __ne__ = operation("__ne__")  # type: ignore[assignment]
    __lt__ = operation("__lt__")
    __le__ = operation("__le__")
    __gt__ = operation("__gt__")
    __ge__ = operation("__ge__")
    __add__ = operation("__add__")
    __radd__ = operation("__radd__")
    __sub__ = operation("__sub__")
    __rsub__ = operation("__rsub__")
    __mul__ = operation("__mul__")
    __rmul__ = operation("__rmul__")
    __truediv__ = operation("__truediv__")
    __rtruediv__ = operation("__rtruediv__")
    __floordiv__ = operation("__floordiv__")
    __rfloordiv__ = operation("__rfloordiv__")
    __mod__ = operation("__mod__")
    __rmod__ = operation("__rmod__")
    __pow__ = operation("__pow__")
    __rpow__ = operation("__rpow__")

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self
