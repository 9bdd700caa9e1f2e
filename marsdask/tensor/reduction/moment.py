"""Central moments."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from marsdask.core.collection import wrap

from ..elementwise.ufuncs import divide, isfinite, subtract
from ..indexing.assignment import assign
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
) -> Any:
    """Return the mean of a power of the distances to the mean. See dask.array.reductions.moment."""
    del split_every
    order = operator.index(order)
    if order < 0:
        raise ValueError("Order must be an integer >= 0")
    tensor = wrap(as_node(a))
    kind = np.result_type(tensor.dtype, np.float64) if dtype is None else np.dtype(dtype)
    values = tensor.astype(kind)
    away = subtract(values, mean(values, axis=axis, keepdims=True))
    if order < 2:
        # As Dask has them: exact, whatever rounding would leave.
        powers = away * 0 + (1 - order)
        found = mean(powers, axis=axis, keepdims=keepdims)
    else:
        count = total(isfinite(away) | True, axis=axis, keepdims=keepdims)
        found = divide(total(away**order, axis=axis, keepdims=keepdims), count - ddof).astype(kind)
    return found if out is None else assign(out, found.node)
