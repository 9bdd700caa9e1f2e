"""Blocks of arrays that follow from positions, and their elements at some positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel

from .range_blocks import arange_at, arange_block, linspace_at, linspace_block

Shape = tuple[int, ...]

#: For each axis the positions of elements; they broadcast against each other.
Places = tuple[Any, ...]


def full_block(shape: Shape, starts: Shape, dtype: Any, fill_value: Any, order: Any = "C") -> Any:
    """Make a block of one value."""
    del starts
    return np.full(shape, fill_value, dtype, order)


def full_at(places: Places, dtype: Any, fill_value: Any, order: Any = "C") -> Any:
    """Return one value for each position."""
    return np.full(np.broadcast_shapes(*map(np.shape, places)), fill_value, dtype, order)


def zeros_block(shape: Shape, starts: Shape, dtype: Any, order: Any = "C") -> Any:
    """Return a block of zeros, whose memory is not touched before its first use."""
    del starts
    return np.zeros(shape, dtype, order)


def zeros_at(places: Places, dtype: Any, order: Any = "C") -> Any:
    """Return a zero for each position."""
    return np.zeros(np.broadcast_shapes(*map(np.shape, places)), dtype, order)


def diagonal_ones(shape: Shape, starts: Shape, dtype: Any, k: int) -> Any:
    """Make a block of a matrix with ones on one diagonal."""
    rows, columns = shape
    return np.eye(rows, columns, k=k + starts[0] - starts[1], dtype=dtype)


def diagonal_ones_at(places: Places, dtype: Any, k: int) -> Any:
    """Return elements of a matrix with ones on one diagonal."""
    rows, columns = places
    return (columns - rows == k).astype(dtype)


def lower_ones(shape: Shape, starts: Shape, dtype: Any, k: int) -> Any:
    """Make a block of a matrix with ones at and below one diagonal."""
    rows, columns = shape
    return np.tri(rows, columns, k=k + starts[0] - starts[1], dtype=dtype)


def lower_ones_at(places: Places, dtype: Any, k: int) -> Any:
    """Return elements of a matrix with ones at and below one diagonal."""
    rows, columns = places
    return (columns - rows <= k).astype(dtype)


def index_along(shape: Shape, starts: Shape, dtype: Any, axis: int) -> Any:
    """Return a block of each element's position along one axis."""
    place = [1] * len(shape)
    place[axis] = shape[axis]
    run = np.arange(starts[axis], starts[axis] + shape[axis]).astype(dtype).reshape(place)
    return np.broadcast_to(run, shape)


def index_at(places: Places, dtype: Any, axis: int) -> Any:
    """Return the positions along one axis."""
    shape = np.broadcast_shapes(*map(np.shape, places))
    return np.broadcast_to(places[axis].astype(dtype), shape)


def indices_of(shape: Shape, starts: Shape, dtype: Any) -> Any:
    """Return a block of the stacked positions along all axes; the first axis selects the axis."""
    first = range(starts[0], starts[0] + shape[0])
    return np.stack([index_along(shape[1:], starts[1:], dtype, axis) for axis in first])


def indices_at(places: Places, dtype: Any) -> Any:
    """Return positions along the axes that the first of the positions select."""
    first, *others = places
    return np.choose(first, np.broadcast_arrays(*others)).astype(dtype)


#: The functions of positions for those of blocks.
AT: dict[Callable[..., Any], Callable[..., Any]] = {
    full_block: full_at,
    zeros_block: zeros_at,
    diagonal_ones: diagonal_ones_at,
    lower_ones: lower_ones_at,
    index_along: index_at,
    indices_of: indices_at,
    arange_block: arange_at,
    linspace_block: linspace_at,
}


@kernel(scratch=4.0)
def along_places(
    shape: Shape,
    starts: Shape,
    dtype: Any,
    func: Callable[..., Any],
    places: tuple[range, ...],
    kwargs: tuple[tuple[str, Any], ...],
) -> Any:
    """Make a block of the elements at positions that advance along all axes together."""
    (length,), (start,) = shape, starts
    own = np.arange(start, start + length)
    return func(tuple(span.start + span.step * own for span in places), dtype=dtype, **dict(kwargs))


def subrange(whole: range, part: range) -> range:
    """Return a part of a range: the elements at the positions ``part``, which may be none."""
    start, step = whole.start + whole.step * part.start, whole.step * part.step
    return range(start, start + step * len(part), step)


#: The most elements along an axis that are made to take some of them.
SPAN = 2**16


@kernel(scratch=1.0)
def part_block(
    shape: Shape, starts: Shape, func: Callable[..., Any], whole: tuple[range, ...], **kwargs: Any
) -> Any:
    """Make a block of the elements at some positions of an array that a function tells."""
    ranges = [
        subrange(own, range(start, start + length))
        for own, start, length in zip(whole, starts, shape, strict=True)
    ]
    spanned = math.prod(abs(part.step) * len(part) for part in ranges)
    if func in AT and spanned > max(SPAN, 2 * math.prod(shape)):
        return AT[func](np.ix_(*ranges), **kwargs)
    return _elements(func, ranges, kwargs)


def _elements(func: Callable[..., Any], wanted: Sequence[range], kwargs: dict[str, Any]) -> Any:
    """Return the elements at positions: long steps are taken one by one, others from a run."""
    # The step of one element is none.
    wanted = [
        part if len(part) > 1 else range(part.start, part.start + len(part)) for part in wanted
    ]
    ascending = [part if part.step > 0 else part[::-1] for part in wanted]
    flips = tuple(slice(None, None, 1 if part.step > 0 else -1) for part in wanted)
    return _ascending(func, ascending, kwargs)[flips]


def _ascending(func: Callable[..., Any], wanted: list[range], kwargs: dict[str, Any]) -> Any:
    shape = tuple(part[-1] - part[0] + 1 if part else 0 for part in wanted)
    spanned = math.prod(shape)
    axis = max(
        range(len(wanted)), key=lambda axis: (len(wanted[axis]) > 1) * wanted[axis].step, default=0
    )
    if spanned > max(SPAN, 2 * math.prod(map(len, wanted))):
        part = wanted[axis]
        count = max(1, len(part) * SPAN // spanned)
        pieces = [
            _ascending(func, [*wanted[:axis], part[i : i + count], *wanted[axis + 1 :]], kwargs)
            for i in range(0, len(part), count)
        ]
        return np.concatenate(pieces, axis)
    steps = tuple(slice(None, None, part.step) for part in wanted)
    return func(shape, tuple(part.start for part in wanted), **kwargs)[steps]
