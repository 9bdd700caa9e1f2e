"""Pad tensors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from marsdask.core.grids.parts import MOST_POINTS
from marsdask.core.node import Node
from marsdask.core.public import Public

from ..chunkwise.map_blocks import map_blocks
from ..chunkwise.rechunk import rechunk
from ..creation.from_shape import arange, full
from ..elementwise.ufuncs import (
    add,
    around,
    astype,
    divide,
    equal,
    floor,
    multiply,
    subtract,
    where,
)
from ..indexing.getitem import getitem
from ..memory_order import as_new
from ..operands import as_node
from ..quantile.exact import median
from ..reduction import reductions
from ..typing import public
from ..unknown_lengths import ResultSpec, like, waits_for_lengths
from .join import concatenate, length
from .repetition import repeat, tile
from .shape import broadcast_to, normalize_axis, view

#: Modes that repeat elements: NumPy says which.
_MIRRORS = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS: dict[str, Public[..., Node, Any]] = {
    "maximum": reductions.max,
    "mean": reductions.mean,
    "median": median,
    "minimum": reductions.min,
}


def _padded(array: Any, pad_width: Any, **_: Any) -> ResultSpec:
    widths = _widths(pad_width, len(as_node(array).chunks))
    return like(array, unknown=(axis for axis, pair in enumerate(widths) if any(pair)))


def _widths(pad_width: Any, ndim: int) -> list[list[int]]:
    """Return the widths before and after each axis."""
    if isinstance(pad_width, dict):
        table = {normalize_axis(axis, ndim): width for axis, width in pad_width.items()}
        pad_width = [table.get(axis, 0) for axis in range(ndim)]
        pad_width = [width if np.ndim(width) else (width, width) for width in pad_width]
    widths: list[list[int]] = np.broadcast_to(np.asarray(pad_width), (ndim, 2)).tolist()
    if any(operator.index(width) < 0 for pair in widths for width in pair):
        raise ValueError("index can't contain negative values")
    return widths


@public
@waits_for_lengths(_padded)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Node:
    """Pad a tensor. See numpy.pad.

    Differs from NumPy: an odd reflection has at most the axis's length; "empty" gives zeros.
    """
    node = as_node(array)
    ndim = len(node.chunks)
    widths = _widths(pad_width, ndim)
    if callable(mode):
        return _by_function(node, widths, mode, kwargs)
    # NumPy names the invalid arguments.
    np.pad(np.zeros((1,) * ndim, node.meta.dtype), 0, mode=mode, **kwargs)
    result = node
    for axis, pair in enumerate(widths):
        if any(pair):
            before, after = _ends(result, axis, pair, mode, kwargs)
            # The axis itself is not copied.
            parts = [*before, result, *after]
            result = as_node(concatenate.node(parts, axis, dtype=node.meta.dtype))
    return as_new(result, node)


def _ends(node: Node, axis: int, pair: list[int], mode: str, how: Any) -> list[list[Node]]:
    """Return the padding before and after an axis, empty if its width is zero."""
    if mode in ("constant", "empty"):
        return _constant(node, axis, pair, _own(how.get("constant_values", 0), node, axis))
    if not length(node, axis):
        raise ValueError(
            f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        )
    if mode in _MIRRORS:
        ends = _mirrored(node, axis, pair, mode)
        return _odd(node, axis, ends, mode) if how.get("reflect_type", "even") == "odd" else ends
    if mode == "linear_ramp":
        return _ramps(node, axis, pair, _own(how.get("end_values", 0), node, axis))
    return _summaries(node, axis, pair, mode, _own(how.get("stat_length"), node, axis))


def _own(values: Any, node: Node, axis: int) -> Any:
    """Return the two values for the ends of an axis."""
    # Items keep their type: a time has a unit.
    return list(np.broadcast_to(np.asarray(values), (len(node.chunks), 2))[axis])


def _constant(node: Node, axis: int, pair: list[int], values: Any) -> list[list[Node]]:
    ends: list[list[Node]] = []
    for width, value in zip(pair, values, strict=True):
        shape = [length(node, i) for i in range(len(node.chunks))]
        shape[axis] = width
        chunks = tuple((width,) if i == axis else sizes for i, sizes in enumerate(node.chunks))
        ends.append([full.node(tuple(shape), value, node.meta.dtype, chunks)] if width else [])
    return ends


def _mirrored(node: Node, axis: int, pair: list[int], mode: Any) -> list[list[Node]]:
    if max(pair) > MOST_POINTS:
        return _periodic(node, axis, pair, mode)
    positions = np.pad(_edges(length(node, axis), max(pair)), pair, mode=mode)
    ends = positions[: pair[0]], positions[len(positions) - pair[1] :]
    return [
        [getitem.node(node, (slice(None),) * axis + (end,))] if len(end) else [] for end in ends
    ]


def _edges(size: int, width: int) -> Any:
    """Return the positions in an axis that padding of a width may repeat."""
    most = width + 1
    if size <= 2 * most:
        return np.arange(size)
    return np.concatenate([np.arange(most), np.arange(size - most, size)])


def _periodic(node: Node, axis: int, pair: list[int], mode: str) -> list[list[Node]]:
    """Return parts of the period of a mode, repeated."""
    size = length(node, axis)
    if mode == "edge" or size == 1:
        edges = (_edge(node, axis, 1, last=last) for last in (False, True))
        return [
            [repeat.node(edge, n, axis)] if n else [] for edge, n in zip(edges, pair, strict=True)
        ]
    period = node
    if mode != "wrap":
        inner = slice(None, None, -1) if mode == "symmetric" else slice(size - 2, 0, -1)
        back = getitem.node(node, (slice(None),) * axis + (inner,))
        period = as_node(concatenate.node([node, back], axis, dtype=node.meta.dtype))
    count = length(period, axis)
    ends: list[list[Node]] = []
    for width, start in zip(pair, (-pair[0] % count, size % count), strict=True):
        reps = [-(-(start + width) // count) if i == axis else 1 for i in range(len(node.chunks))]
        run = tile.node(period, reps)
        part = (slice(None),) * axis + (slice(start, start + width),)
        ends.append([getitem.node(run, part)] if width else [])
    return ends


def _odd(node: Node, axis: int, ends: list[list[Node]], mode: str) -> list[list[Node]]:
    """Invert reflections about the value at the edge."""
    own = length(node, axis)
    if own == 1 and mode == "reflect":  # nothing to reflect: NumPy too repeats the edge
        return ends
    most = own - (mode == "reflect") if own > 1 else np.inf
    for end, last in zip(ends, (False, True), strict=True):
        if any(length(part, axis) > most for part in end):
            raise NotImplementedError(
                "pad(reflect_type='odd') longer than the axis is not supported; use pad() twice"
            )
        edge = _edge(node, axis, 1, last=last)
        dtype = edge.meta.dtype
        twice = multiply.node(edge, np.array(2, np.int64 if dtype.kind in "bmM" else dtype))
        end[:] = [astype.node(subtract.node(twice, part), dtype) for part in end]
    return ends


def _edge(node: Node, axis: int, size: int, *, last: bool) -> Node:
    part = slice(length(node, axis) - size, None) if last else slice(0, size)
    return getitem.node(node, (slice(None),) * axis + (part,))


def _summaries(node: Node, axis: int, pair: list[int], mode: str, sizes: Any) -> list[list[Node]]:
    """Return a statistic of each end (or of all), repeated."""
    ends: list[list[Node]] = []
    dtype = node.meta.dtype
    for width, size, last in zip(pair, sizes, (False, True), strict=True):
        whole = length(node, axis)
        edge = _edge(node, axis, whole if size is None else min(size, whole), last=last)
        if not size and size is not None and mode in ("maximum", "minimum"):
            raise ValueError("stat_length of 0 yields no value for padding")
        statistic = _STATISTICS[mode].node(edge, axis=axis, keepdims=True)
        if dtype.kind in "iu":
            statistic = around.node(statistic)
        shape = tuple(width if i == axis else n for i, n in enumerate(statistic.shape))
        ends.append([broadcast_to.node(astype.node(statistic, dtype), shape)] if width else [])
    return ends


def _ramps(node: Node, axis: int, pair: list[int], values: Any) -> list[list[Node]]:
    """Return steps from an end's value to the edge, as numpy.linspace computes them."""
    ends: list[list[Node]] = []
    dtype = node.meta.dtype
    kind = np.result_type(dtype, np.float64)
    for width, value, last in zip(pair, values, (False, True), strict=True):
        if not width:
            ends.append([])
            continue
        places = range(width)[::-1] if last else range(width)
        numbers = arange.node(places.start, places.stop, places.step, dtype=kind)
        numbers = view(numbers, [0 if i == axis else None for i in range(node.meta.ndim)])
        edge = astype.node(_edge(node, axis, 1, last=last), kind)
        change = subtract.node(edge, value)
        step = divide.node(change, width)
        level = reductions.any.node(equal.node(step, 0))  # then NumPy divides before it multiplies
        shares = where.node(level, divide.node(numbers, width), numbers)
        ramp = add.node(multiply.node(shares, where.node(level, change, step)), value)
        if dtype.kind in "iu":
            ramp = floor.node(ramp)
        ends.append([as_node(astype.node(ramp, dtype))])
    return ends


def _by_function(node: Node, widths: list[list[int]], function: Any, kwargs: Any) -> Node:
    """Let a function fill the ends of each line, one axis after the other."""
    result = pad.node(node, widths)
    for axis, pair in enumerate(widths):
        how = {"function": function, "pair": tuple(pair), "axis": axis, "options": kwargs}
        result = map_blocks.node(
            pad_lines, rechunk.node(result, {axis: -1}), dtype=result.meta.dtype, **how
        )
    return result


def pad_lines(block: Any, function: Any, pair: tuple[int, int], axis: int, options: Any) -> Any:
    """Call a function for each line, which it changes in place."""
    out = block.copy()
    lines = np.moveaxis(out, axis, -1)
    for place in np.ndindex(lines.shape[:-1]):
        function(lines[place], pair, axis, options)
    return out
