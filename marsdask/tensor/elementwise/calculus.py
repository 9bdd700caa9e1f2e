"""Slopes, angles without jumps, values between points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple, wrap
from marsdask.core.compilation.costs import kernel

from ..chunkwise.rechunk import rechunk
from ..chunkwise.single_task import beside
from ..manipulation.join import concatenate, length, part, stack
from ..manipulation.shape import moveaxis, normalize_axes, normalize_axis
from ..operands import as_node
from ..scan.cumulative import cumsum
from ..typing import public
from ..unknown_lengths import like, waits_for_lengths
from .differences import diff
from .ufuncs import abs as absolute
from .ufuncs import add, divide, equal, logical_and, mod, subtract
from .ufuncs import where as chosen

if TYPE_CHECKING:
    from ..tensor import Tensor


@kernel(scratch=2.0)
def between(x: Any, xp: Any, fp: Any, left: Any, right: Any, period: Any) -> Any:
    """Interpolate between points."""
    return np.interp(x, xp, fp, left, right, period)


@public
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
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
    return beside(between, x, *points, dtype=dtype, **how)


def _slopes(f: Any, varargs: tuple[Any, ...], axis: Any, **_: Any) -> Any:
    f = wrap(as_node(f))
    kind = f.dtype
    if kind.kind in "iu":
        kind = np.dtype(np.float64)
    elif kind.kind not in "fcO":
        step = varargs[0] if varargs else 1.0
        kind = divide(subtract(f, f), 2.0 * step).dtype
    axes = range(f.ndim) if axis is None else normalize_axes(axis, f.ndim)
    told = [like(f, kind)] * len(axes)
    return told[0] if len(told) == 1 else ExecutableTuple(told)


@public
@waits_for_lengths(_slopes)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Estimate slopes by differences of neighbours. See numpy.gradient."""
    f = wrap(as_node(f))
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
    for at in axes:
        if length(f.node, at) < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, "
                "at least (edge_order + 1) elements are required."
            )
    found = [_slope(f, at, step, edge_order) for at, step in zip(axes, spacings, strict=True)]
    return found[0] if len(found) == 1 else ExecutableTuple(found)


def _spacing(step: Any, f: Any, axis: int) -> Any:
    """Return how far neighbours are apart: a number, or a tensor of one less than the axis."""
    if np.ndim(step) == 0:
        return step
    places = wrap(as_node(step))
    if places.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if length(places.node, 0) != length(f.node, axis):
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if places.dtype.kind in "iu":
        places = places.astype(np.float64)
    steps = diff(places)
    if not isinstance(step, Collection):
        same = np.diff(np.asarray(step, places.dtype))
        if (same == same[0]).all():  # as NumPy, whose formula for equal steps is another
            return same[0]
    return steps[(slice(None), *(None,) * (f.ndim - 1 - axis))]


def _slope(f: Any, axis: int, step: Any, edge_order: int) -> Any:
    n = length(f.node, axis)

    def at(start: int, stop: int, of: Any = f) -> Any:
        return part(of.node, axis, range(start, stop))

    equal_steps = np.ndim(step) == 0
    if equal_steps:
        inner = divide(subtract(at(2, n), at(0, n - 2)), 2.0 * step)
        ends = (step, step)
    else:
        whole = step.ndim - f.ndim + axis
        left = part(step.node, whole, range(n - 2))
        right = part(step.node, whole, range(1, n - 1))
        inner = (
            divide(-right, left * (left + right)) * at(0, n - 2)
            + divide(right - left, left * right) * at(1, n - 1)
            + divide(left, right * (left + right)) * at(2, n)
        )
        ends = (part(step.node, whole, range(1)), part(step.node, whole, range(n - 2, n - 1)))
    if edge_order == 1:
        first = divide(subtract(at(1, 2), at(0, 1)), ends[0])
        last = divide(subtract(at(n - 1, n), at(n - 2, n - 1)), ends[1])
    else:
        pairs = [(step, step)] * 2
        if not equal_steps:
            whole = step.ndim - f.ndim + axis
            cut = [part(step.node, whole, range(i, i + 1)) for i in (0, 1, n - 3, n - 2)]
            pairs = [(cut[0], cut[1]), (cut[3], cut[2])]
        first = _edge([at(i, i + 1) for i in (0, 1, 2)], *pairs[0])
        last = -_edge([at(i, i + 1) for i in (n - 1, n - 2, n - 3)], *pairs[1])
    joined = concatenate([first, inner, last], axis)
    kept = joined.dtype.kind in "mfc" and f.dtype.kind in "fc"
    return rechunk(joined.astype(f.dtype) if kept else joined, f.chunks)


def _edge(values: list[Any], near: Any, far: Any) -> Any:
    """Return the slope at the first of three places, of second order."""
    a = divide(-(2.0 * near + far), near * (near + far))
    b = divide(near + far, near * far)
    c = divide(-near, far * (near + far))
    return a * values[0] + b * values[1] + c * values[2]


@public
@waits_for_lengths(lambda p, period, **_: like(p, np.result_type(as_node(p).meta.dtype, period)))
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """Take jumps of more than half a period out. See numpy.unwrap."""
    p = wrap(as_node(p))
    axis = normalize_axis(axis, p.ndim)
    dtype = np.result_type(p.dtype, period)
    n = length(p.node, axis)
    steps = diff(p, axis=axis)
    limit = period / 2 if discont is None else discont
    whole = dtype.kind in "iu"
    high, rest = divmod(period, 2) if whole else (period / 2, 0)
    ambiguous = not whole or rest == 0
    low = -high
    wrapped = add(mod(subtract(steps, low), period), low)
    if ambiguous:
        up = logical_and(equal(wrapped, low), steps > 0)
        wrapped = chosen(up, high, wrapped)
    correction = chosen(absolute(steps) < limit, 0, subtract(wrapped, steps))
    rest_of = add(part(p.node, axis, range(min(1, n), n)), cumsum(correction, axis))
    first = part(p.node, axis, range(min(1, n)))
    return concatenate([first.astype(dtype), rest_of.astype(dtype)], axis)


@public
def cross(
    a: Any,
    b: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Any:
    """Return the cross product of vectors in space, or in the plane. See numpy.cross."""
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = _components(a, axisa), _components(b, axisb)
    if len(first) == len(second) == 2:
        return subtract(first[0] * second[1], first[1] * second[0])
    (a0, a1, a2), (b0, b1, b2) = ([*x, x[0] - x[0]][:3] for x in (first, second))
    found = [(a1, b2, a2, b1), (a2, b0, a0, b2), (a0, b1, a1, b0)]
    return stack([subtract(w * x, y * z) for w, x, y, z in found], axisc)


def _components(a: Any, axis: int) -> list[Any]:
    """Return the vectors' components, of which there are two or three."""
    a = wrap(as_node(a))
    last = moveaxis(a, axis, -1)
    count = length(last.node, last.ndim - 1)
    if count not in (2, 3):
        raise ValueError(
            "incompatible dimensions for cross product (dimension must be 2 or 3): "
            f"axis {axis} has {count}"
        )
    return [last[..., position] for position in range(count)]
