"""Move, add, drop, merge and split axes; values are unchanged."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple
from marsdask.core.grids.align import broadcast_chunks
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.select import cut_axis
from marsdask.core.machine.costs import kernel
from marsdask.core.node import DiagonalOf, MemoryOrder, Node, PartOf, Taken
from marsdask.core.sizes import Chunks, Index, Size, Sizes, known, numbers, shape_text

from ..chunks import as_shape, normalize_chunks
from ..chunkwise.rechunk import recut
from ..memory_order import moved
from ..operands import as_node, empty, empty_like_kind
from ..sparse.blocks import dense, is_sparse, move_axes
from ..typing import itself, public_view, read_only_view
from ..unknown_lengths import ResultSpec, later, waits_for_lengths, whole_if_unknown

if TYPE_CHECKING:
    pass

normalize_axis: Final = np.lib.array_utils.normalize_axis_index
normalize_axes: Final = np.lib.array_utils.normalize_axis_tuple


@dataclass(frozen=True, eq=False)
class View(Node):
    """The axes in another order: ``None`` is a new axis of length one, missing axes are dropped.

    A dropped axis has length one.
    """

    label: ClassVar[str] = "transpose"

    a: Node
    axes: tuple[int | None, ...]

    @property
    def meta(self) -> Any:
        return view_meta(self.a.meta, self.axes)

    @property
    def chunks(self) -> Chunks:
        return tuple((1,) if axis is None else self.a.chunks[axis] for axis in self.axes)

    @property
    def memory_order(self) -> MemoryOrder:
        return moved(self.a.memory_order, self.axes, self.shape)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        below: list[range | None] = [None] * len(self.a.chunks)
        beside: list[range | None] = [None] * len(taken)
        for place, (axis, span) in enumerate(zip(self.axes, taken, strict=True)):
            if axis is None:
                beside[place] = span
            else:
                below[axis] = span
        return part(self.replaced(a=part(self.a, tuple(below))), tuple(beside))

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        ndim, last = len(self.a.chunks), self.axes[-2:]
        if None in last or {*last} != {ndim - 2, ndim - 1}:
            return None
        pair = (rows, columns) if last[0] == ndim - 2 else (columns, rows)
        inner = along(self.a, *pair, self.a.shape[-2:])
        return View(inner, (*self.axes[:-2], ndim - 2))

    def tile(self, a: Grid) -> Any:
        return view_grid(a, self.axes)


def view_grid(a: Grid, axes: tuple[int | None, ...]) -> Grid:
    """Return a grid whose chunks are views with the given ``axes``."""
    places = tuple(axes.index(axis) if axis in axes else None for axis in range(a.ndim))
    # An axis of length one may have empty chunks and one that is not.
    a = whole(a, [axis for axis, place in enumerate(places) if place is None])
    return blockwise(
        reorder,
        [(a, places)],
        chunks=tuple((1,) if axis is None else a.chunks[axis] for axis in axes),
        meta=view_meta(a.meta, axes),
        kwargs={"axes": axes},
        cheap=True,
        itemsize=a.itemsize,
    )


def view_meta(meta: Any, axes: tuple[int | None, ...]) -> Any:
    """Return the meta with the given ``axes``; new axes make sparse blocks dense."""
    if None in axes:
        return empty(meta.dtype, len(axes))
    return empty_like_kind(meta, meta.dtype, len(axes))


@kernel(view=True)
def reorder(block: Any, axes: tuple[int | None, ...]) -> Any:
    """Return a view of a block with moved, added and dropped axes."""
    if is_sparse(block):
        if None not in axes and axes:
            return move_axes(block, axes)
        block = dense(block)
    extra = [axis for axis in range(block.ndim) if axis not in axes]
    order = [axis for axis in axes if axis is not None]
    result = block.transpose(*order, *extra)
    place = tuple(None if axis is None else slice(None) for axis in axes)
    # The Ellipsis keeps an array without axes an array.
    return result[(*place, *(0,) * len(extra), ...)]


def view(a: Any, axes: Sequence[int | None]) -> Node:
    """Return the node with the given ``axes``, or itself if they are unchanged."""
    node = as_node(a, sparse=True)
    return node if list(axes) == list(range(len(node.chunks))) else View(node, tuple(axes))


@public_view
def transpose(a: Any, axes: Any = None, *more: int) -> Node:
    """Permute the axes; reverses them by default. See numpy.transpose."""
    node = as_node(a, sparse=True)
    ndim = len(node.chunks)
    if more:
        axes = (axes, *more)
    if axes is None:
        return view(node, range(ndim)[::-1])
    if np.size(axes) != ndim:
        raise ValueError("axes don't match array")
    order = normalize_axes(axes, ndim, allow_duplicate=True)
    if len(set(order)) != ndim:
        raise ValueError("repeated axis in transpose")
    return view(node, order)


@public_view
def matrix_transpose(a: Any) -> Node:
    """Swap the last two axes. See numpy.matrix_transpose."""
    if as_node(a, sparse=True).meta.ndim < 2:
        raise ValueError("Input array must be at least 2-dimensional for matrix_transpose()")
    return swapaxes.node(a, -1, -2)


@public_view
def swapaxes(a: Any, axis1: int, axis2: int) -> Node:
    """Exchange two axes. See numpy.swapaxes."""
    node = as_node(a, sparse=True)
    order = list(range(len(node.chunks)))
    first, second = (
        np.lib.array_utils.normalize_axis_index(operator.index(axis), len(order), name)
        for axis, name in ((axis1, "axis1"), (axis2, "axis2"))
    )
    order[first], order[second] = order[second], order[first]
    return view(node, order)


@public_view
def moveaxis(a: Any, source: Any, destination: Any) -> Node:
    """Move axes to other positions, the rest in order. See numpy.moveaxis."""
    node = as_node(a)
    ndim = len(node.chunks)
    start, stop = (
        normalize_axes(axes, ndim, name)
        for axes, name in ((source, "source"), (destination, "destination"))
    )
    if len(start) != len(stop):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [axis for axis in range(ndim) if axis not in start]
    for place, axis in sorted(zip(stop, start, strict=True)):
        order.insert(place, axis)
    return view(node, order)


@public_view
def rollaxis(a: Any, axis: int, start: int = 0) -> Node:
    """Move one axis before another. See numpy.rollaxis."""
    ndim = len(as_node(a).chunks)
    axis = normalize_axis(axis, ndim)
    start = start + ndim if start < 0 else start
    if not 0 <= start <= ndim:
        raise np.exceptions.AxisError(start, ndim, "start")
    return moveaxis.node(a, axis, start - 1 if axis < start else start)


@public_view
def expand_dims(a: Any, axis: Any) -> Node:
    """Insert axes of length one. See numpy.expand_dims."""
    node = as_node(a)
    if isinstance(axis, Collection):
        axis = axis.compute()
    axis = tuple(axis) if np.iterable(axis) else axis
    count = len(axis) if isinstance(axis, tuple) else 1
    ndim = len(node.chunks) + count
    new = normalize_axes(axis, ndim)
    axes = iter(range(len(node.chunks)))
    return view(node, [None if place in new else next(axes) for place in range(ndim)])


@public_view
def squeeze(a: Any, axis: Any = None) -> Node:
    """Drop axes of length one; those of unknown length stay. See numpy.squeeze."""
    node = as_node(a)
    shape = node.shape
    if axis is None:
        axes: tuple[int, ...] = tuple(i for i, size in enumerate(shape) if size == 1)
    else:
        axes = normalize_axes(axis, len(shape) or 1)[: len(shape)]  # a scalar has any first axis
        if any(size != 1 for size in numbers(shape[i] for i in axes)):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    if not axes and isinstance(a, Collection):
        return itself(a)
    return view(node, [i for i in range(len(shape)) if i not in axes])


def whole(a: Grid, axes: Sequence[int]) -> Grid:
    """Return the grid with one chunk along each of some axes of known length."""
    several = [axis for axis in axes if a.numblocks[axis] > 1]
    if not several:
        return a
    target = (
        (sum(numbers(sizes)),) if axis in several else sizes for axis, sizes in enumerate(a.chunks)
    )
    return recut(a, tuple(target))


@dataclass(frozen=True, eq=False)
class Broadcast(Node):
    """Axes repeated without copying: each chunk is a view of stride zero."""

    label: ClassVar[str] = "broadcast_to"

    a: Node
    splits: Chunks
    """The cut of each axis of the result that is new or repeated; empty where the input's holds."""

    @property
    def meta(self) -> Any:
        return empty(self.a.meta.dtype, len(self.splits))

    @property
    def _offset(self) -> int:
        return len(self.splits) - len(self.a.chunks)

    @property
    def chunks(self) -> Chunks:
        return self._result(self.a.chunks)

    @property
    def memory_order(self) -> MemoryOrder:
        axes = (*(None,) * self._offset, *range(len(self.a.chunks)))
        return moved(self.a.memory_order, axes, self.shape)

    def _result(self, chunks: Chunks) -> Chunks:
        source = ((),) * self._offset + chunks
        return tuple(new or old for new, old in zip(self.splits, source, strict=True))

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        splits = tuple(
            cut_axis(numbers(sizes), span).sizes if sizes and span is not None else sizes
            for sizes, span in zip(self.splits, taken, strict=True)
        )
        below = tuple(
            None if sizes else span for sizes, span in zip(self.splits, taken, strict=True)
        )
        return self.replaced(a=part(self.a, below[self._offset :]), splits=splits)

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        inner = along(self.a, rows, columns, self.shape[-2:])
        has_axis = bool(inner.chunks) and inner.shape[-1] == len(rows)
        sizes = () if has_axis else normalize_chunks(None, (len(rows),), self.meta.dtype)[0]
        return self.replaced(a=inner, splits=(*self.splits[:-2], sizes))

    def tile(self, a: Grid) -> Any:
        chunks = self._result(a.chunks)
        spread_axes = [axis for axis in range(a.ndim) if self.splits[axis + self._offset]]
        a = whole(a, spread_axes)
        axes = tuple(None if axis in spread_axes else axis + self._offset for axis in range(a.ndim))
        return blockwise(
            broadcast_block,
            [(a, axes)],
            chunks=chunks,
            meta=self.meta,
            varying=SizesAt(self.splits),
            cheap=True,
        )

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        return self.replaced(splits=tuple(new.get(sizes, sizes) for sizes in self.splits))


@dataclass(frozen=True)
class SizesAt:
    """Gives each chunk its lengths along the axes of ``splits``, ``None`` for the others."""

    splits: Chunks

    def __call__(self, index: Index) -> tuple[tuple[Size | None, ...]]:
        pairs = zip(self.splits, index, strict=True)
        return (tuple(sizes[i] if sizes else None for sizes, i in pairs),)


@kernel(view=True)
def broadcast_block(block: Any, shape: tuple[int | None, ...]) -> Any:
    """Repeat a block along new axes and those of length one, as a view."""
    own = (1,) * (len(shape) - block.ndim) + block.shape
    lengths = tuple(n if size is None else size for size, n in zip(shape, own, strict=True))
    return np.broadcast_to(block, lengths)


@read_only_view
def broadcast_to(array: Any, shape: Any, subok: bool = False, chunks: Any = None) -> Node:
    """Repeat along new axes and those of length one. See numpy.broadcast_to."""
    del subok
    node = as_node(array)
    shape = as_shape(shape)
    if not known(node.shape) and len(shape) >= len(node.chunks):
        splits = normalize_chunks(chunks, shape, node.meta.dtype)
        outcome = ResultSpec(node.meta.dtype, splits)
        promise: Node = later(broadcast_to, node, shape, outcome=outcome)
        return promise
    offset = len(shape) - len(node.chunks)
    old = (1,) * offset + numbers(node.shape)
    if offset < 0 or any(n not in (1, size) for n, size in zip(old, shape, strict=True)):
        raise ValueError(
            f"operands could not be broadcast together with remapped shapes "
            f"[original->remapped]: {shape_text(node.shape)}  "
            f"and requested shape {shape_text(shape)}"
        )
    fresh = [axis for axis, n in enumerate(old) if axis < offset or (n == 1 and shape[axis] != 1)]
    request = tuple(
        (None if chunks is None else chunks[axis])
        if axis in fresh
        else tuple(numbers(node.chunks[axis - offset]))
        for axis in range(len(shape))
    )
    target = normalize_chunks(request, shape, node.meta.dtype)
    if chunks is not None and normalize_chunks(chunks, shape, node.meta.dtype) != target:
        raise ValueError(
            f"chunks={chunks} cut axes that are not repeated in other places than {node.chunks}; "
            "use rechunk()"
        )
    splits = tuple(sizes if axis in fresh else () for axis, sizes in enumerate(target))
    return Broadcast(node, splits) if fresh else node


def _broadcast(args: tuple[Any, ...], **_: Any) -> tuple[ResultSpec, ...]:
    nodes = [as_node(arg) for arg in args]
    chunks = broadcast_chunks(*(node.chunks for node in nodes))
    lengths = tuple(map(whole_if_unknown, chunks))
    return ExecutableTuple(ResultSpec(node.meta.dtype, lengths) for node in nodes)


@public_view
@waits_for_lengths(_broadcast)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Node, ...]:
    """Broadcast tensors against each other. See numpy.broadcast_arrays."""
    del subok
    nodes = [as_node(arg) for arg in args]
    shape = np.broadcast_shapes(*(numbers(node.shape) for node in nodes))
    return ExecutableTuple(
        itself(arg)
        if isinstance(arg, Collection) and node.shape == shape
        else broadcast_to.node(node, shape)
        for arg, node in zip(args, nodes, strict=True)
    )
