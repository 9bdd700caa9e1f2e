"""Gradients, angles without jumps, interpolation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple, collect
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.tensor.elementwise.ufuncs import where
from marsdask.tensor.indexing.getitem import getitem

from ..chunkwise.rechunk import rechunk
from ..chunkwise.single_task import broadcast_map
from ..kernels.duck_arrays import alike
from ..manipulation.join import concatenate, length, part, stack
from ..manipulation.shape import moveaxis, normalize_axes, normalize_axis
from ..memory_order import in_order
from ..operands import as_node
from ..scan.cumulative import cumsum
from ..typing import public
from ..unknown_lengths import like, waits_for_lengths
from .differences import diff
from .ufuncs import abs as absolute
from .ufuncs import add, astype, divide, equal, greater, less, logical_and, mod, multiply, subtract

if TYPE_CHECKING:
    pass


@kernel(scratch=2.0)
def between(x: Any, xp: Any, fp: Any, left: Any, right: Any, period: Any) -> Any:
    """Interpolate between points."""
    x, xp, fp = alike(x, xp, fp)
    return np.interp(x, xp, fp, left, right, period)


@public
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Node:
    """Interpolate linearly between points. See numpy.interp."""
    points = [as_node(item) for item in (xp, fp)]
    for node in points:
        if len(node.chunks) != 1:
            raise ValueError("Data points must be 1-D sequences")
    if period == 0:
        raise ValueError("period must be a non-zero value")
    sizes = [node.shape[0] for node in points]
    if all(isinstance(size, int) for size in sizes):
        if sizes[0] != sizes[1]:
            raise ValueError("fp and xp are not of the same length.")
        if sizes[0] == 0:
            raise ValueError("array of sample points is empty")
    dtype = np.dtype(np.complex128 if points[1].meta.dtype.kind == "c" else np.float64)
    how = {"left": left, "right": right, "period": period}
    return broadcast_map(between, x, *points, dtype=dtype, **how)


def _slopes(f: Any, varargs: tuple[Any, ...], axis: Any, **_: Any) -> Any:
    f = as_node(f)
    kind = f.meta.dtype
    if kind.kind in "iu":
        kind = np.dtype(np.float64)
    elif kind.kind not in "fcO":
        step = varargs[0] if varargs else 1.0
        kind = divide.node(subtract.node(f, f), 2.0 * step).meta.dtype
    axes = range(f.meta.ndim) if axis is None else normalize_axes(axis, f.meta.ndim)
    specs = [like(f, kind)] * len(axes)
    return specs[0] if len(specs) == 1 else ExecutableTuple(specs)


@public
@waits_for_lengths(_slopes)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Estimate slopes by differences of neighbours. See numpy.gradient."""
    f = collect(as_node(f))
    axes = range(f.ndim) if axis is None else normalize_axes(axis, f.ndim)
    if not varargs:
        spacings: list[Any] = [1.0] * len(axes)
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        spacings = list(varargs) * len(axes)
    elif len(varargs) == len(axes):
        spacings = [_spacing(step, f, at) for step, at in zip(varargs, axes, strict=True)]
    else:
        raise TypeError("invalid number of arguments")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' is 1 or 2")
    if f.dtype.kind in "iu":
        f = f.astype(np.float64)
    if f.dtype.kind == "M":  # as NumPy, which takes times for their differences from the epoch
        f = subtract(f, np.zeros((), f.dtype))
    for at in axes:
        if length(f.node, at) < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, "
                "at least (edge_order + 1) elements are required."
            )
    slopes = [_slope(f, at, step, edge_order) for at, step in zip(axes, spacings, strict=True)]
    return slopes[0] if len(slopes) == 1 else ExecutableTuple(slopes)


def _spacing(step: Any, f: Any, axis: int) -> Any:
    """Return the distance of neighbours: a number, or a tensor one shorter than the axis."""
    if np.ndim(step) == 0:
        return step
    places = as_node(step)
    if places.meta.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if length(places, 0) != length(f.node, axis):
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if places.meta.dtype.kind in "iu":
        places = astype.node(places, np.float64)
    steps = collect(diff.node(places))
    if not isinstance(step, Collection):
        gaps = np.diff(np.asarray(step, places.meta.dtype))
        if (gaps == gaps[0]).all():  # as NumPy, which uses another formula for equal steps
            return gaps[0]
    return steps[(slice(None), *(None,) * (f.ndim - 1 - axis))]


def _slope(f: Any, axis: int, step: Any, edge_order: int) -> Any:
    n = length(f.node, axis)

    def at(start: int, stop: int, of: Any = f) -> Any:
        return collect(part(of.node, axis, range(start, stop)))

    def at_step(start: int, stop: int) -> Any:
        return collect(part(step.node, step.ndim - f.ndim + axis, range(start, stop)))

    equal_steps = np.ndim(step) == 0
    if equal_steps:
        inner = divide(subtract(at(2, n), at(0, n - 2)), 2.0 * step)
        ends = (step, step)
    else:
        dx1, dx2 = at_step(0, n - 2), at_step(1, n - 1)
        inner = (
            divide(-dx2, dx1 * (dx1 + dx2)) * at(0, n - 2)
            + divide(dx2 - dx1, dx1 * dx2) * at(1, n - 1)
            + divide(dx1, dx2 * (dx1 + dx2)) * at(2, n)
        )
        ends = at_step(0, 1), at_step(n - 2, n - 1)
    if edge_order == 1:
        first = divide(subtract(at(1, 2), at(0, 1)), ends[0])
        last = divide(subtract(at(n - 1, n), at(n - 2, n - 1)), ends[1])
    else:
        pairs = [(step, step)] * 2
        if not equal_steps:
            edges = [at_step(i, i + 1) for i in (0, 1, n - 3, n - 2)]
            pairs = [(edges[0], edges[1]), (edges[3], edges[2])]
        first = _edge([at(i, i + 1) for i in (0, 1, 2)], *pairs[0])
        last = -_edge([at(i, i + 1) for i in (n - 1, n - 2, n - 3)], *pairs[1])
    slopes = concatenate([first, inner, last], axis)
    is_inexact = slopes.dtype.kind in "mfc" and f.dtype.kind in "fc"
    slopes = rechunk(slopes.astype(f.dtype) if is_inexact else slopes, f.chunks)
    return collect(in_order(slopes.node, f.node.memory_order))


def _edge(values: list[Any], near: Any, far: Any) -> Any:
    """Return the second-order slope at the first of three positions."""
    a = divide(-(2.0 * near + far), near * (near + far))
    b = divide(near + far, near * far)
    c = divide(-near, far * (near + far))
    return a * values[0] + b * values[1] + c * values[2]


@public
@waits_for_lengths(lambda p, period, **_: like(p, np.result_type(as_node(p).meta.dtype, period)))
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Node:
    """Remove jumps of more than half a period. See numpy.unwrap."""
    p = as_node(p)
    axis = normalize_axis(axis, p.meta.ndim)
    dtype = np.result_type(p.meta.dtype, period)
    n = length(p, axis)
    steps = diff.node(p, axis=axis)
    limit = period / 2 if discont is None else discont
    whole = dtype.kind in "iu"
    high, remainder = divmod(period, 2) if whole else (period / 2, 0)
    ambiguous = not whole or remainder == 0
    low = -high
    ddmod = add.node(mod.node(subtract.node(steps, low), period), low)
    if ambiguous:
        up = logical_and.node(equal.node(ddmod, low), greater.node(steps, 0))
        ddmod = where.node(up, high, ddmod)
    small = less.node(absolute.node(steps), limit)
    correction = where.node(small, 0, subtract.node(ddmod, steps))
    rest_of = add.node(part(p, axis, range(min(1, n), n)), cumsum.node(correction, axis))
    first = part(p, axis, range(min(1, n)))
    return concatenate.node([astype.node(first, dtype), astype.node(rest_of, dtype)], axis)


@public
def cross(
    a: Any,
    b: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Node:
    """Return the cross product of vectors in space, or in the plane. See numpy.cross."""
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = _components(a, axisa), _components(b, axisb)
    if len(first) == len(second) == 2:
        return _crossed(first[0], second[1], first[1], second[0])
    (a0, a1, a2), (b0, b1, b2) = ([*x, subtract.node(x[0], x[0])][:3] for x in (first, second))
    terms = [(a1, b2, a2, b1), (a2, b0, a0, b2), (a0, b1, a1, b0)]
    return stack.node([_crossed(*four) for four in terms], axisc)


def _crossed(a: Node, b: Node, c: Node, d: Node) -> Node:
    return subtract.node(multiply.node(a, b), multiply.node(c, d))


def _components(a: Any, axis: int) -> list[Node]:
    """Return the two or three components of the vectors."""
    last = moveaxis.node(as_node(a), axis, -1)
    count = length(last, len(last.chunks) - 1)
    if count not in (2, 3):
        raise ValueError(
            "incompatible dimensions for cross product (dimension must be 2 or 3): "
            f"axis {axis} has {count}"
        )
    return [getitem.node(last, (..., position)) for position in range(count)]
