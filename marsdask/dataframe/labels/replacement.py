"""Values in the places of a condition: ``where`` and ``mask``, and in place one for each place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import no_default

from marsdask.core.arguments import keeps_lazy
from marsdask.core.sizes import total

from ..elementwise import values
from ..elementwise.operands import ROW_VALUES
from ..elementwise.rowwise import Method, rowwise
from ..nodes.frame_node import S
from ..reduction.fold import assembled


@keeps_lazy("arguments")
def where(
    obj: S, cond: Any, other: Any = no_default, *, inplace: bool = False, **options: Any
) -> S:
    """Keep values where a condition holds, and put others elsewhere. See pandas.DataFrame.where.

    In place, a list may have one value for each of these places.
    """
    if inplace and _is_by_place(obj, other):
        result: S = _with_values(values.InPlace("where"), obj, cond, other)
        return result
    return values.where(obj, cond, other, inplace=inplace, **options)


@keeps_lazy("arguments")
def mask(obj: S, cond: Any, other: Any = no_default, *, inplace: bool = False, **options: Any) -> S:
    """Replace values where a condition holds. See pandas.DataFrame.mask.

    In place, a list may have one value for each of these places.
    """
    if inplace and _is_by_place(obj, other):
        result: S = _with_values(values.InPlace("mask"), obj, cond, other)
        return result
    return values.mask(obj, cond, other, inplace=inplace, **options)


def _is_by_place(obj: Any, other: Any) -> bool:
    """Tell whether there are values of another number than rows, and more than one."""
    if obj.ndim != 1 or not isinstance(other, ROW_VALUES) or np.ndim(other) != 1:
        return False
    return len(other) not in (1, total(obj.node.chunks[0]))


def _with_values(method: Method, obj: Any, cond: Any, other: Any) -> Any:
    """Put one value after the other into the places of a condition."""
    cond = values.beside(obj, cond, method.name)
    places = cond if method.name == "mask" else ~cond
    how = {"method": method, "values": np.asarray(other)}
    count = [places.sum()]
    checked = assembled(checked_count, count, np.int64(0), title="count", length=len(other))
    return rowwise(placed, obj, cond, places.cumsum(), checked, **how)


def checked_count(count: Any, length: int) -> Any:
    """Return the number of places if there are as many values."""
    if length != int(count):
        raise ValueError("cannot assign mismatch length to masked array")
    return count


def placed(
    block: Any, cond: Any, numbers: Any, count: Any, method: Method, values: np.ndarray[Any, Any]
) -> Any:
    """Return a chunk with values in the places of a condition, of which each has its number."""
    del count  # was checked
    taken = values[np.clip(numbers.to_numpy(), 1, len(values)) - 1]
    return method(block, cond, pd.Series(taken, index=block.index))
