"""The DataFrame: a lazy table."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.collection import Collection, register_collection
from marsdask.core.node import Node
from marsdask.core.session import Session
from marsdask.tensor.tensor import method

from . import distinct, groupby, numbering, order, parquet, position, reduce
from .collection import Rows
from .create import make_frame
from .elementwise import binary, by_column, column_of, index_of, method_of, rowwise, with_columns
from .merge import merge as merge_frames


class DataFrame(Rows):
    """A lazy table in runs of rows; pandas's vocabulary, Mars's and Dask's verbs."""

    __slots__ = ()

    def __init__(
        self,
        data: Any = None,
        session: Session | None = None,
        *,
        index: Any = None,
        columns: Any = None,
        dtype: Any = None,
        chunk_size: Any = None,
        num_partitions: int | None = None,
    ) -> None:
        if not isinstance(data, Node):
            data = make_frame(data, index, columns, dtype, chunk_size, num_partitions).node
        super().__init__(data, session)

    @property
    def columns(self) -> Any:
        """The column labels."""
        return self._node.meta.columns

    @property
    def dtypes(self) -> Any:
        """The type of each column."""
        return self._node.meta.dtypes

    @property
    def shape(self) -> tuple[int | float, ...]:
        """Rows and columns; nan rows where only running can tell."""
        return (*super().shape, len(self.columns))

    @property
    def ndim(self) -> int:
        """Two axes."""
        return 2

    @property
    def index(self) -> Any:
        """The row labels, lazily."""
        return rowwise(index_of, self)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._node.meta.columns:
            return self[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        names = [name for name in self.columns if isinstance(name, str) and name.isidentifier()]
        return [*super().__dir__(), *names]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Collection | pd.Series):
            return self._filtered(key)
        if isinstance(key, slice):
            raise NotImplementedError("rows by position: iloc")
        if isinstance(key, list | np.ndarray | pd.Index):
            key = list(key)
        return rowwise(column_of, self, key=key)

    def __setitem__(self, name: Any, value: Any) -> None:
        self._node = self._with({name: value}).node

    def assign(self, **columns: Any) -> Any:
        """Return the frame with columns added or replaced; functions are given the frame."""
        frame = self
        for name, value in columns.items():
            frame = frame._with({name: value(frame) if callable(value) else value})
        return frame

    def _with(self, columns: dict[Any, Any]) -> Any:
        for value in columns.values():
            if isinstance(value, pd.Series | np.ndarray | list):
                raise NotImplementedError("a column is a scalar or a marsdask Series")
        return rowwise(with_columns, self, *columns.values(), names=tuple(columns))

    def set_index(self, keys: Any, *, drop: bool = True, append: bool = False) -> Any:
        """Label the rows with columns. See pandas."""
        return rowwise(by_column, self, key=keys, drop=drop, append=append)

    iloc = property(position.ILoc)
    loc = property(position.Loc)

    drop_duplicates = method(distinct.drop_duplicates)
    dropna = method(distinct.dropna)
    groupby = method(groupby.groupby)
    head = method(position.head)
    merge = method(merge_frames)
    to_parquet = method(parquet.to_parquet)
    reset_index = method(numbering.reset_index)
    sort_index = method(order.sort_index)
    sort_values = method(order.sort_values)
    tail = method(position.tail)

    def drop(self, labels: Any = None, *, axis: Any = 0, columns: Any = None) -> Any:
        """Drop columns. See pandas."""
        if columns is None and axis in {1, "columns"}:
            columns, labels = labels, None
        if labels is not None or columns is None:
            raise NotImplementedError("drop of rows by label: filter by a condition, as df[mask]")
        kept = self._node.meta.drop(columns=columns).columns
        return self[list(kept)]

    @property
    def size(self) -> int | float:
        """The number of values; nan where only running can tell."""
        return self.shape[0] * len(self.columns)

    @property
    def empty(self) -> bool:
        """Whether there are no rows or no columns; computes where only running can tell."""
        return not len(self.columns) or not len(self)

    def __iter__(self) -> Any:
        return iter(self.columns)

    def __contains__(self, name: Any) -> bool:
        return name in self.columns

    sum = reduce.reduction("sum")
    mean = reduce.reduction("mean")
    count = reduce.reduction("count")
    min = reduce.reduction("min")
    max = reduce.reduction("max")
    var = reduce.reduction("var")
    std = reduce.reduction("std")
    any = reduce.reduction("any")
    all = reduce.reduction("all")
    prod = reduce.reduction("prod")

    abs = method_of("abs")
    add_prefix = method_of("add_prefix")
    add_suffix = method_of("add_suffix")
    astype = method_of("astype")
    clip = method_of("clip")
    fillna = method_of("fillna")
    isin = method_of("isin")
    isna = isnull = method_of("isna")
    notna = notnull = method_of("notna")
    mask = method_of("mask")
    rename = method_of("rename")
    where = method_of("where")
    round = method_of("round")

    __add__, __radd__ = binary(operator.add), binary(operator.add, reflected=True)
    __sub__, __rsub__ = binary(operator.sub), binary(operator.sub, reflected=True)
    __mul__, __rmul__ = binary(operator.mul), binary(operator.mul, reflected=True)
    __truediv__ = binary(operator.truediv)
    __rtruediv__ = binary(operator.truediv, reflected=True)
    __floordiv__ = binary(operator.floordiv)
    __mod__, __pow__ = binary(operator.mod), binary(operator.pow)
    __and__, __or__ = binary(operator.and_), binary(operator.or_)
    __lt__, __le__ = binary(operator.lt), binary(operator.le)
    __gt__, __ge__ = binary(operator.gt), binary(operator.ge)
    __eq__, __ne__ = binary(operator.eq), binary(operator.ne)
    __hash__ = None  # type: ignore[assignment]

    __neg__ = method_of("__neg__")
    __invert__ = method_of("__invert__")
    __abs__ = method_of("abs")


register_collection(pd.DataFrame, DataFrame)
