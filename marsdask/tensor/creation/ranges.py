"""Values along a line or a curve between two ends, or between the elements of two arrays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple
from marsdask.core.node import Node

from ..elementwise.ufuncs import add, astype, divide, floor, multiply, power
from ..indexing.setitem import setitem
from ..kernels.range_blocks import linspace_block
from ..manipulation.reshape import reshape
from ..manipulation.shape import moveaxis, normalize_axis
from ..signatures import shows
from ..typing import public
from .from_shape import EXTRAS, arange, create_node


@public
@shows(*EXTRAS)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    chunk_size: Any = None,
    *,
    axis: int = 0,
    **extra: Any,
) -> Any:
    """Return evenly spaced values between two ends. See numpy.linspace.

    Ends that are tensors are computed immediately.
    """
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    div = num - 1 if endpoint else num
    start, stop = (x.compute() if isinstance(x, Collection) else x for x in (start, stop))
    kind = np.linspace(start, stop, 1).dtype
    if np.ndim(start) or np.ndim(stop):
        result, step = _between(start, stop, num, div, kind, dtype, chunk_size)
        result = moveaxis(result, 0, normalize_axis(axis, result.ndim))
    else:
        normalize_axis(axis, 1)
        ends = (kind.type(start), kind.type(stop), num)
        step = (ends[1] - ends[0]) / div if div > 0 else np.nan
        target = kind if dtype is None else np.dtype(dtype)
        last = {"ends": ends, "last": bool(endpoint)}
        result = create_node(linspace_block, (num,), target, chunk_size, extra, "linspace", **last)
    return ExecutableTuple((result, step)) if retstep else result


def _between(
    start: Any, stop: Any, num: int, div: int, kind: np.dtype[Any], dtype: Any, chunk_size: Any
) -> tuple[Any, Any]:
    """Return values between the elements of arrays, the first axis along them, and the steps."""
    first, last = ((np.asarray(end) * 1.0).astype(kind, copy=False) for end in (start, stop))
    delta = np.subtract(last, first, dtype=kind)
    place = reshape.node(
        arange.node(num, dtype=kind, chunk_size=chunk_size), (-1,) + (1,) * delta.ndim
    )
    step = delta / div if div > 0 else np.nan
    if div > 0 and np.any(step == 0):  # a step may be too small for the type
        result = multiply(divide.node(place, div), delta)
    else:
        result = multiply(place, step if div > 0 else delta)
    result = add(result, first)
    if div == num - 1 and num > 1:
        setitem(result, -1, last)
    if dtype is None:
        return result, step
    return astype(floor.node(result) if np.dtype(dtype).kind in "iu" else result, dtype), step


@public
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    chunk_size: Any = None,
    *,
    axis: int = 0,
) -> Node:
    """Return values evenly spaced on a logarithmic scale. See numpy.logspace."""
    if np.ndim(base):
        ndim = np.broadcast(start, stop, base).ndim
        start, stop, base = (np.array(item, ndmin=ndim) for item in (start, stop, base))
        base = np.expand_dims(base, axis)
    exponents = linspace.node(start, stop, num, endpoint, chunk_size=chunk_size, axis=axis)
    result = power.node(base, exponents)
    return result if dtype is None else astype.node(result, dtype)


@public
def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
    chunk_size: Any = None,
) -> Node:
    """Return values in geometric progression. See numpy.geomspace.

    Ends that are tensors are computed immediately.
    """
    first, last = np.asarray(start), np.asarray(stop)
    if np.any(first == 0) or np.any(last == 0):
        raise ValueError("Geometric sequence cannot include zero")
    kind = np.result_type(first, last, float(num), np.zeros((), dtype))
    first, last = first.astype(kind)[()], last.astype(kind)[()]
    # As NumPy: rotated so that the first value is positive, and the ends are exact.
    sign = np.sign(first)
    ends = np.log10(first / sign), np.log10(last / sign)
    result = multiply(logspace.node(*ends, num, endpoint, 10.0, chunk_size=chunk_size), sign)
    if num > 0:
        setitem(result, 0, first)
    if num > 1 and endpoint:
        setitem(result, -1, last)
    result = moveaxis(result, 0, normalize_axis(axis, result.ndim))
    return astype.node(result, kind if dtype is None else dtype)
