"""Differences of neighbours, and integrals between them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.tensor.manipulation.reshape import ravel

from ..indexing.getitem import getitem
from ..manipulation.join import concatenate
from ..manipulation.shape import broadcast_to, normalize_axis
from ..operands import as_node
from ..reduction.reductions import sum as total
from ..typing import itself, public
from ..unknown_lengths import ResultSpec, like, waits_for_lengths
from .ufuncs import add, divide, multiply, not_equal, subtract


@public
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Node:
    """Return the differences of neighbours along an axis. See numpy.diff."""
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    result = as_node(a)
    if not result.chunks:
        raise ValueError("diff requires input that is at least one dimensional")
    if n == 0:
        return itself(a) if isinstance(a, Collection) else result
    axis = normalize_axis(axis, len(result.chunks))
    result = concatenate.node(
        [
            _edge(item, result, axis) if item is not result else item
            for item in (prepend, result, append)
            if item is not None
        ],
        axis,
    )
    change = not_equal if result.meta.dtype == bool else subtract
    for _ in range(n):
        result = change.node(*_neighbours(result, axis))
    return result


def _neighbours(a: Node, axis: int) -> tuple[Node, Node]:
    """Return all elements but the first, and their predecessors."""
    before = (slice(None),) * axis
    return getitem.node(a, (*before, slice(1, None))), getitem.node(a, (*before, slice(-1)))


def _one_along(item: Any, a: Any, axis: int) -> ResultSpec:
    lengths = list(like(a).lengths)
    lengths[axis] = (1,)
    return ResultSpec(item.meta.dtype, tuple(lengths))


def _edge(item: Any, a: Node, axis: int) -> Node:
    """Return the elements to add before or after ``a``; a number is repeated along the edge."""
    node = as_node(item)
    return node if node.chunks else along_edge(node, a, axis)


@waits_for_lengths(_one_along)
def along_edge(item: Any, a: Any, axis: int) -> Node:
    """Repeat a number along all axes but one."""
    shape = as_node(a).shape
    return broadcast_to.node(item, numbers((*shape[:axis], 1, *shape[axis + 1 :])))


@public
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Node:
    """Return the differences of neighbours among all elements. See numpy.ediff1d."""
    flat = ravel.node(ary)
    change = subtract.node(*_neighbours(flat, 0))  # unlike diff(), NumPy refuses bools here
    edges = [None if x is None else ravel.node(x) for x in (to_begin, to_end)]
    for edge in edges:
        if edge is not None and not np.can_cast(edge.meta.dtype, flat.meta.dtype, "same_kind"):
            raise TypeError("dtype of `to_begin` and `to_end` must be compatible with the input")
    parts = (edges[0], change, edges[1])
    return concatenate.node([x for x in parts if x is not None], dtype=change.meta.dtype)


@public
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Node:
    """Integrate by trapezoids. See numpy.trapezoid."""
    node = as_node(y)
    axis = normalize_axis(axis, len(node.chunks))
    step = dx
    if x is not None:
        points = as_node(x)
        places = tuple(slice(None) if i == axis else None for i in range(len(node.chunks)))
        is_1d = len(points.chunks) == 1
        step = getitem.node(diff.node(points), places) if is_1d else diff.node(points, axis=axis)
    right, left = _neighbours(node, axis)
    return total.node(divide.node(multiply.node(step, add.node(right, left)), 2.0), axis=axis)
