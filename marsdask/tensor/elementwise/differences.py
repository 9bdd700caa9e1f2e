"""Differences of neighbours, and sums between them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.sizes import numbers

from ..indexing.getitem import getitem
from ..manipulation.join import concatenate
from ..manipulation.shape import broadcast_to, normalize_axis
from ..operands import as_node
from ..reduction.reductions import sum as total
from ..typing import public
from ..unknown_lengths import Outcome, like, waits_for_lengths
from .ufuncs import divide, multiply, not_equal, subtract


@public
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return the differences of neighbours along an axis. See numpy.diff."""
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    result = wrap(as_node(a))
    if result.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if n == 0:
        return result
    axis = normalize_axis(axis, result.ndim)
    result = concatenate(
        [
            _edge(item, result, axis) if item is not result else item
            for item in (prepend, result, append)
            if item is not None
        ],
        axis,
    )
    change = not_equal if result.dtype == bool else subtract
    for _ in range(n):
        result = change(*_neighbours(result, axis))
    return result


def _neighbours(a: Any, axis: int) -> tuple[Any, Any]:
    """Return each element but the first, and the one before it."""
    before = (slice(None),) * axis
    return getitem(a, (*before, slice(1, None))), getitem(a, (*before, slice(-1)))


def _one_along(item: Any, a: Any, axis: int) -> Outcome:
    lengths = list(like(a).lengths)
    lengths[axis] = (1,)
    return Outcome(item.dtype, tuple(lengths))


def _edge(item: Any, a: Any, axis: int) -> Any:
    """Return what is put before or after ``a``; a number goes along the whole edge."""
    item = wrap(as_node(item))
    return item if item.ndim else along_edge(item, a, axis)


@waits_for_lengths(_one_along)
def along_edge(item: Any, a: Any, axis: int) -> Any:
    """Repeat a number along all other axes than one."""
    shape = a.node.shape
    return broadcast_to(item, numbers((*shape[:axis], 1, *shape[axis + 1 :])))


@public
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Return the differences of neighbours among all elements. See numpy.ediff1d."""
    flat = wrap(as_node(ary)).ravel()
    change = subtract(*_neighbours(flat, 0))  # unlike diff(), NumPy refuses bools here
    edges = [None if x is None else wrap(as_node(x)).ravel() for x in (to_begin, to_end)]
    for edge in edges:
        if edge is not None and not np.can_cast(edge.dtype, flat.dtype, "same_kind"):
            raise TypeError("dtype of `to_begin` and `to_end` must be compatible with the input")
    found = (edges[0], change, edges[1])
    return concatenate([x for x in found if x is not None], dtype=change.dtype)


@public
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate by trapezoids. See numpy.trapezoid."""
    y = wrap(as_node(y))
    axis = normalize_axis(axis, y.ndim)
    step = dx
    if x is not None:
        x = wrap(as_node(x))
        places = tuple(slice(None) if i == axis else None for i in range(y.ndim))
        step = diff(x)[places] if x.ndim == 1 else diff(x, axis=axis)
    right, left = _neighbours(y, axis)
    return total(divide(multiply(step, right + left), 2.0), axis=axis)
