"""Functions that are short sums of others."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple, wrap
from marsdask.core.node import Node
from marsdask.core.types import numbers

from .assigned import assign
from .base import as_node
from .chunks import check_order
from .data import array
from .elementwise import (
    clip,
    conj,
    divide,
    isfinite,
    isnan,
    logical_not,
    maximum,
    multiply,
    not_equal,
    sqrt,
    subtract,
)
from .join import concatenate, length, part
from .linalg import dot
from .reduce import all as all_true
from .reduce import average, mean
from .reduce import sum as total
from .shape import broadcast_to, expand_dims, normalize_axis, transpose
from .waiting import waits_for_lengths


def from_array(x: Any, chunks: Any = "auto", name: Any = None, **hints: Any) -> Any:
    """Return a tensor over an array; see dask.array.from_array.

    ``name``, ``lock``, ``asarray``, ``fancy``, ``getitem``, ``meta`` and ``inline_array`` are taken
    and change nothing: names come from the values, and blocks are NumPy's.
    """
    unknown = hints.keys() - {"lock", "asarray", "fancy", "getitem", "meta", "inline_array"}
    if unknown:
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    del name
    return array(x if isinstance(x, Collection) else np.asanyarray(x), chunk_size=chunks)


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """Return a tensor of the same values that in-place changes of ``a`` do not reach.

    See numpy.copy. How blocks lie in memory is for kernels to choose.
    """
    del subok
    check_order(order)
    return wrap(as_node(a, sparse=True))


def ndim(a: Any) -> int:
    """Return the number of axes. See numpy.ndim."""
    return len(_node(a).chunks)


def size(a: Any, axis: int | None = None) -> Any:
    """Return the number of elements, nan where only running can tell. See numpy.size."""
    tensor = wrap(_node(a))
    return tensor.size if axis is None else tensor.shape[normalize_axis(axis, tensor.ndim)]


def shape(a: Any) -> Any:
    """Return the lengths of the axes, nan where only running can tell. See numpy.shape.

    As in Mars the tuple has ``execute()`` and ``fetch()``, which find it as it is.
    """
    return ExecutableTuple(wrap(_node(a)).shape)


def _node(a: Any) -> Node:
    """Return the node of what may be masked: lengths do not depend on it."""
    return a.node if isinstance(a, Collection) else as_node(a)


def isnull(values: Any) -> Any:
    """Tell which elements are missing. See dask.array.isnull."""
    return isnan(values)


def notnull(values: Any) -> Any:
    """Tell which elements are not missing. See dask.array.notnull."""
    return logical_not(isnan(values))


@waits_for_lengths
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
    n = length(a.node, axis)
    return part(a.node, axis, range(min(1, n), n)), part(a.node, axis, range(max(0, n - 1)))


def _edge(item: Any, a: Any, axis: int) -> Any:
    """Return what is put before or after ``a``; a number goes along the whole edge."""
    item = wrap(as_node(item))
    if item.ndim:
        return item
    return broadcast_to(item, tuple(1 if i == axis else n for i, n in enumerate(a.shape)))


@waits_for_lengths
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


@waits_for_lengths
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Estimate a covariance matrix. See numpy.cov.

    Differs from NumPy: the signs of weights that are tensors are not looked at.
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    ddof = ddof if ddof is not None else 0 if bias else 1
    sets = [_observations(x, rowvar) for x in (m, y) if x is not None]
    kind = np.result_type(*(x.dtype for x in sets), np.float64) if dtype is None else dtype
    values = (concatenate(sets, 0) if len(sets) > 1 else sets[0]).astype(kind)
    count = length(values.node, 1)
    if fweights is None and aweights is None:
        centred = subtract(values, mean(values, axis=1, keepdims=True))
        product = dot(centred, conj(transpose(centred)))
        return divide(product, np.float64(max(count - ddof, 0))).squeeze().astype(kind)
    weights, free = _weights(fweights, aweights, ddof, count)
    centre, _ = average(values, 1, weights, returned=True)
    centred = subtract(values, expand_dims(centre, 1)).astype(kind)
    product = dot(centred, conj(transpose(multiply(centred, weights))))
    return divide(product, free).squeeze()


def _weights(fweights: Any, aweights: Any, ddof: int, count: int) -> tuple[Any, Any]:
    """Return the weight of each observation and what to divide by, as NumPy's cov defines it."""
    often = 1 if fweights is None else _checked_weights("fweights", fweights, count)
    much = 1.0 if aweights is None else _checked_weights("aweights", aweights, count)
    both = multiply(often, much)
    whole = total(both)
    lost = ddof if aweights is None else divide(ddof * total(multiply(both, much)), whole)
    return both, maximum(subtract(whole, lost), 0.0)


def _checked_weights(name: str, weights: Any, count: int) -> Any:
    lazy = isinstance(weights, Collection)
    weights = weights if lazy else np.asarray(weights)
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape != (count,):
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    broken = name == "fweights" and weights.dtype.kind not in "biu"
    if broken and (lazy or (weights != np.around(weights)).any()):
        raise TypeError("fweights must be integer")
    if not lazy and (weights < 0).any():
        raise ValueError(f"{name} cannot be negative")
    return weights


def _observations(x: Any, rowvar: bool) -> Any:
    """Return a matrix with a row a variable."""
    x = wrap(as_node(x))
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if x.ndim < 2:
        return expand_dims(x.ravel(), 0)
    return x if rowvar or x.shape[0] == 1 else transpose(x)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """Return the correlation coefficients. See numpy.corrcoef."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return divide(c, c)
    spread = sqrt(c.diagonal().real)
    c = divide(divide(c, expand_dims(spread, 1)), expand_dims(spread, 0))
    if c.dtype.kind != "c":
        return clip(c, -1, 1)
    return clip(c.real, -1, 1) + 1j * clip(c.imag, -1, 1)


@waits_for_lengths
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


@waits_for_lengths
def array_equiv(a1: Any, a2: Any) -> Any:
    """Tell whether two tensors are equal after broadcasting, lazily. See numpy.array_equiv."""
    first, second = wrap(as_node(a1)), wrap(as_node(a2))
    shapes = numbers(first.node.shape), numbers(second.node.shape)
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return array(False)
    return all_true(first == second)


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
