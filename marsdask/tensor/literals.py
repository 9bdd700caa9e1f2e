"""Tensors from what Python holds: a scalar, an iterable, bytes, text; values along a curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from marsdask.core.collection import Collection

from .create import logspace
from .data import array
from .setitem import setitem


def scalar(data: Any, dtype: Any = None, **settings: Any) -> Any:
    """Return a tensor without axes. As in Mars."""
    if not isinstance(data, Collection) and np.ndim(data):
        raise TypeError(f"scalar() takes a scalar, not an array of shape {np.shape(data)}")
    return array(data, dtype=dtype, **settings)


def from_text(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a tensor of what one of NumPy's reads at once."""

    def read(*args: Any, chunk_size: Any = None, **kwargs: Any) -> Any:
        found = func(*args, **kwargs)
        if isinstance(found, list | tuple):  # a field of a record each
            return [array(one, chunk_size=chunk_size) for one in found]
        return array(found, chunk_size=chunk_size)

    read.__name__ = read.__qualname__ = func.__name__
    read.__doc__ = f"Return a tensor of what is read at the call. See numpy.{func.__name__}."
    return read


frombuffer = from_text(np.frombuffer)
fromiter = from_text(np.fromiter)
fromstring = from_text(np.fromstring)


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
    chunk_size: Any = None,
) -> Any:
    """Return values each a constant multiple of the one before. See numpy.geomspace.

    Differs from NumPy: the ends are scalars.
    """
    del axis
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    kind = np.result_type(start, stop, float(num), np.zeros((), dtype))
    first, last = kind.type(start), kind.type(stop)
    # As NumPy: turned so that the first value is positive, and the ends are exactly themselves.
    sign = np.sign(first)
    ends = np.log10(first / sign), np.log10(last / sign)
    result = logspace(*ends, num, endpoint, 10.0, chunk_size=chunk_size) * sign
    if num > 0:
        setitem(result, 0, first)
    if num > 1 and endpoint:
        setitem(result, -1, last)
    return result.astype(kind if dtype is None else dtype)
