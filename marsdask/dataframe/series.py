"""The Series: a lazy column with its index."""

from __future__ import annotations

import operator
from typing import Any

import pandas as pd

from marsdask.core.collection import Collection, register_collection
from marsdask.core.node import Node
from marsdask.core.session import Session
from marsdask.tensor.tensor import method

from . import distinct, groupby, numbering, order, position, reduce
from .collection import Rows
from .create import make_series
from .elementwise import Accessor, binary, index_of, method_of, renamed, rowwise, to_frame


class Series(Rows):
    """A lazy column; pandas's vocabulary, Mars's and Dask's verbs."""

    __slots__ = ()

    def __init__(
        self,
        data: Any = None,
        session: Session | None = None,
        *,
        index: Any = None,
        dtype: Any = None,
        name: Any = None,
        chunk_size: Any = None,
        num_partitions: int | None = None,
    ) -> None:
        if not isinstance(data, Node):
            data = make_series(data, index, dtype, name, chunk_size, num_partitions).node
        super().__init__(data, session)

    @property
    def dtype(self) -> Any:
        """The type of the values."""
        return self._node.meta.dtype

    @property
    def name(self) -> Any:
        """The label of the column."""
        return self._node.meta.name

    @property
    def index(self) -> Any:
        """The row labels, lazily."""
        return rowwise(index_of, self)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Collection | pd.Series):
            return self._filtered(key)
        raise NotImplementedError("a series is indexed by a mask; by position use iloc")

    def to_frame(self, name: Any = None) -> Any:
        """Return a DataFrame of this one column."""
        return rowwise(to_frame, self, name=self.name if name is None else name)

    def rename(self, name: Any = None) -> Any:
        """Return the series under another name."""
        if callable(name) or isinstance(name, dict):
            raise NotImplementedError("rename of labels: reset_index() and compute them")
        return rowwise(renamed, self, name=name)

    @property
    def str(self) -> Accessor:
        """Functions of strings. See pandas.Series.str."""
        return Accessor(self, "str")

    @property
    def dt(self) -> Accessor:
        """Functions of dates and times. See pandas.Series.dt."""
        return Accessor(self, "dt")

    @property
    def size(self) -> int | float:
        """The number of values; nan where only running can tell."""
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """One axis."""
        return 1

    iloc = property(position.ILoc)

    drop_duplicates = method(distinct.drop_duplicates)
    dropna = method(distinct.dropna)
    groupby = method(groupby.groupby)
    head = method(position.head)
    nunique = method(distinct.nunique)
    reset_index = method(numbering.reset_index)
    sort_index = method(order.sort_index)
    sort_values = method(order.sort_values)
    tail = method(position.tail)
    value_counts = method(distinct.value_counts)

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
    astype = method_of("astype")
    between = method_of("between")
    clip = method_of("clip")
    fillna = method_of("fillna")
    isin = method_of("isin")
    isna = isnull = method_of("isna")
    notna = notnull = method_of("notna")
    mask = method_of("mask")
    round = method_of("round")
    where = method_of("where")

    __add__, __radd__ = binary(operator.add), binary(operator.add, reflected=True)
    __sub__, __rsub__ = binary(operator.sub), binary(operator.sub, reflected=True)
    __mul__, __rmul__ = binary(operator.mul), binary(operator.mul, reflected=True)
    __truediv__ = binary(operator.truediv)
    __rtruediv__ = binary(operator.truediv, reflected=True)
    __floordiv__ = binary(operator.floordiv)
    __rfloordiv__ = binary(operator.floordiv, reflected=True)
    __mod__, __rmod__ = binary(operator.mod), binary(operator.mod, reflected=True)
    __pow__, __rpow__ = binary(operator.pow), binary(operator.pow, reflected=True)
    __and__, __rand__ = binary(operator.and_), binary(operator.and_, reflected=True)
    __or__, __ror__ = binary(operator.or_), binary(operator.or_, reflected=True)
    __xor__, __rxor__ = binary(operator.xor), binary(operator.xor, reflected=True)
    __lt__, __le__ = binary(operator.lt), binary(operator.le)
    __gt__, __ge__ = binary(operator.gt), binary(operator.ge)
    __eq__, __ne__ = binary(operator.eq), binary(operator.ne)
    __hash__ = None  # type: ignore[assignment]

    __neg__ = method_of("__neg__")
    __invert__ = method_of("__invert__")
    __abs__ = method_of("abs")


register_collection(pd.Series, Series)
