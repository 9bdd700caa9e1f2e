"""Central moments."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from marsdask.core.node import Node

from ..elementwise.ufuncs import (
    add,
    astype,
    bitwise_or,
    divide,
    isfinite,
    multiply,
    power,
    square,
    subtract,
)
from ..indexing.assignment import into
from ..operands import as_node
from ..typing import public
from .reductions import mean
from .reductions import sum as total


@public
def moment(
    a: Any,
    order: int,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    ddof: int = 0,
    split_every: Any = None,
    out: Any = None,
) -> Node:
    """Return the mean of a power of the distances to the mean. See dask.array.reductions.moment."""
    del split_every
    order = operator.index(order)
    if order < 0:
        raise ValueError("Order must be an integer >= 0")
    tensor = as_node(a)
    kind = np.result_type(tensor.meta.dtype, np.float64) if dtype is None else np.dtype(dtype)
    values = astype.node(tensor, kind)
    away = subtract.node(values, mean.node(values, axis=axis, keepdims=True))
    if order < 2:
        # As in Dask, they are exact, without rounding errors.
        powers = add.node(multiply.node(away, 0), (1 - order))
        result = mean.node(powers, axis=axis, keepdims=keepdims)
    else:
        powers = square.node(away) if order == 2 else power.node(away, order)
        count = total.node(bitwise_or.node(isfinite.node(away), True), axis=axis, keepdims=keepdims)
        result = astype.node(
            divide.node(
                total.node(powers, axis=axis, keepdims=keepdims),
                subtract.node(count, ddof),
            ),
            kind,
        )
    return into(out, result)
