"""What DataFrame and Series share: rows with labels, computed with and reduced."""

from __future__ import annotations

import operator
from typing import Any

from marsdask.tensor.tensor import method

from . import elementwise, reduce, scan
from .collection import Rows
from .elementwise import index_of, method_of, rowwise
from .keyed import groupby, unique
from .operands import binary
from .ordered import iloc as position
from .ordered import rolling, row_numbers, shift
from .ordered import sort_values as order


class Labelled(Rows):
    """Lazy rows with labels."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property
    def index(self) -> Any:
        """The row labels, lazily."""
        return rowwise(index_of, self)

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it; computes where only running can tell."""
        return not len(self)

    iloc = property(position.ILoc)

    drop_duplicates = method(unique.drop_duplicates)
    dropna = method(unique.dropna)
    groupby = method(groupby.groupby)
    head = method(position.head)
    reset_index = method(row_numbers.reset_index)
    sort_index = method(order.sort_index)
    sort_values = method(order.sort_values)
    tail = method(position.tail)

    diff = method(shift.diff)
    rolling = method(rolling.rolling)
    shift = method(shift.shift)

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

    cumsum = scan.cumulative("cumsum")
    cumprod = scan.cumulative("cumprod")

    abs = __abs__ = method_of("abs")
    astype = method(elementwise.astype)
    clip = method_of("clip")
    fillna = method(elementwise.fillna)
    isin = method(elementwise.isin)
    isna = isnull = method_of("isna")
    mask = method_of("mask")
    notna = notnull = method_of("notna")
    round = method_of("round")
    where = method_of("where")

    __neg__ = method_of("__neg__")
    __invert__ = method_of("__invert__")
    __lt__, __le__ = binary(operator.lt), binary(operator.le)
    __gt__, __ge__ = binary(operator.gt), binary(operator.ge)
    __eq__, __ne__ = binary(operator.eq), binary(operator.ne)
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
