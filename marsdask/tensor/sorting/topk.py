"""The largest or smallest elements along an axis: a few of each chunk, then a few of those.

A chunk is read once. The worst of the best ``k`` so far is a bound, which few of the rest exceed;
the selection is among those (introselect, linear: Musser, Software: Practice and Experience 27,
1997). A tree combines ``k`` elements of each chunk, so no task holds more than ``k`` for each of
its inputs.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import ExecutableTuple
from marsdask.core.display.suggestions import check_keywords
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.chunk_positions import StartAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import loops_beside
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.machine.costs import Cost, kernel
from marsdask.core.node import Axes, Node
from marsdask.core.sizes import Chunks, Unknown, upper

from ..elementwise.nodes import native
from ..elementwise.ufuncs import astype
from ..indexing.getitem import getitem
from ..manipulation.diagonals import take_along_axis
from ..manipulation.join import length
from ..manipulation.reshape import ravel
from ..operands import as_node
from ..typing import public
from .sort import argsort

#: Elements that are compared with the bound at a time: they stay in cache.
STEP = 2**16

#: A bound is worthwhile if at most one in this many elements is wanted.
FEW = 8


@dataclass(frozen=True, eq=False)
class TopK(Node):
    """``k`` extreme elements (or with ``indices`` their positions) along an axis, in order."""

    a: Node
    k: int
    axis: int
    largest: bool
    indices: bool

    @property
    def label(self) -> str:
        return "argtopk" if self.indices else "topk"

    @property
    def meta(self) -> Any:
        return np.empty(self.a.meta.shape, np.intp) if self.indices else self.a.meta

    @property
    def chunks(self) -> Chunks:
        length = self.a.shape[self.axis]
        bound = upper(length)
        most = self.k if bound is None else min(self.k, bound)
        size = Unknown(self.name, -1, most) if isinstance(length, Unknown) else most
        return (*self.a.chunks[: self.axis], (size,), *self.a.chunks[self.axis + 1 :])

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        return (loops_beside((self.axis,), len(self.a.chunks)),)

    def tile(self, a: Grid) -> Any:
        if self.indices:
            return self._positions(a)
        unit = self._ones(a)
        return self._finished(map_blocks(top, a, chunks=unit, meta=a.meta, kwargs=self._options), a)

    def _positions(self, a: Grid) -> Any:
        (a,) = yield from resolved(a)
        where = StartAt(a.chunks[self.axis], self.axis)
        partials = map_blocks(
            top_with_positions,
            a,
            chunks=self._ones(a),
            itemsize=(a.width or 0) + self.meta.dtype.itemsize,
            varying=where,
            kwargs=self._options,
        )
        return self._finished(partials, a)

    def _finished(self, partials: Grid, a: Grid) -> Grid:
        combine = Pairwise(MergeTopk(self.k, self.axis, self.largest))
        grid = tree(partials, combine, [self.axis])
        chunks = (*a.chunks[: self.axis], self.chunks[self.axis], *a.chunks[self.axis + 1 :])
        finish = sort_best_positions if self.indices else sort_best
        axes = tuple(range(a.ndim))
        return blockwise(
            finish, [(grid, axes)], chunks=chunks, meta=self.meta, kwargs=self._options
        )

    def _ones(self, a: Grid) -> Chunks:
        sizes = (self.k,) * a.numblocks[self.axis]
        return (*a.chunks[: self.axis], sizes, *a.chunks[self.axis + 1 :])

    @property
    def _options(self) -> dict[str, Any]:
        return {"k": self.k, "axis": self.axis, "largest": self.largest}


@dataclass(frozen=True)
class MergeTopk:
    """Keeps the extreme ones of two partial results (arrays, or pairs with positions)."""

    cost: ClassVar[Cost] = Cost(scratch=4.2)

    k: int
    axis: int
    largest: bool

    def __call__(self, a: Any, b: Any) -> Any:
        if isinstance(a, tuple):
            pair = tuple(np.concatenate(arrays, self.axis) for arrays in zip(a, b, strict=True))
            order = _chosen(pair[0], self.k, self.axis, self.largest)
            return tuple(np.take_along_axis(item, order, self.axis) for item in pair)
        return top(np.concatenate([a, b], self.axis), self.k, self.axis, self.largest)


@kernel(scratch=1.0)
def top(block: Any, k: int, axis: int, largest: bool) -> Any:
    """Return the ``k`` extreme elements along an axis, in any order."""
    length = block.shape[axis]
    if length <= k:
        return block
    if block.ndim == 1 and block.dtype.kind in "iuf" and FEW * k < length:
        block = candidates(block, k, largest)[0]
        length = len(block)
    if k == 0:
        return np.take(block, [], axis)
    kth = length - k if largest else k - 1
    ends = slice(kth, None) if largest else slice(0, k)
    return np.partition(block, kth, axis)[(slice(None),) * axis + (ends,)].copy()


@kernel(scratch=2.0)
def top_with_positions(block: Any, start: int, k: int, axis: int, largest: bool) -> Any:
    """Return the ``k`` extreme elements along an axis, and their positions."""
    if block.ndim == 1 and block.dtype.kind in "iuf" and len(block) > k:
        values, positions = candidates(block, k, largest)
        order = _chosen(values, k, 0, largest)
        return values[order], positions[order] + start
    order = _chosen(block, k, axis, largest)
    return np.take_along_axis(block, order, axis), order + start


def candidates(block: Any, k: int, largest: bool) -> tuple[Any, Any]:
    """Return few elements, including the ``k`` extreme ones, and their positions.

    The ``k`` best elements so far give a bound that few of the rest exceed.
    """
    length = len(block)
    if k == 0:
        return block[:0], np.empty(0, np.intp)
    first = block[: max(STEP, 2 * k)]
    kth = len(first) - k if largest else k - 1
    bound = np.partition(first, kth)[kth]
    worse = np.less if largest else np.greater
    values, positions = [], []
    mask = np.empty(STEP, bool)
    for start in range(0, length, STEP):
        part = block[start : start + STEP]
        # Not "better": NaN is never worse than the bound, and is kept for the partition to place.
        below = worse(part, bound, out=mask[: len(part)])
        places = np.flatnonzero(np.logical_not(below, out=below))
        if len(places):
            values.append(part[places])
            positions.append(places + start)
        if sum(map(len, values)) > max(STEP, 4 * k):
            values, positions, bound = _tightened(values, positions, k, largest)
    return np.concatenate(values), np.concatenate(positions)


def _tightened(
    values: list[Any], positions: list[Any], k: int, largest: bool
) -> tuple[list[Any], list[Any], Any]:
    pool = np.concatenate(values)
    order = _chosen(pool, k, 0, largest)
    best = pool[order]
    bound = np.sort(best)[0 if largest else -1]
    return [best], [np.concatenate(positions)[order]], bound


def _chosen(block: Any, k: int, axis: int, largest: bool) -> Any:
    """Return positions along an axis of the ``k`` extreme elements."""
    length = block.shape[axis]
    if length <= k:
        ends = slice(None)
        order = np.argsort(block, axis, kind="stable")
    else:
        kth = min(length - 1, length - k if largest else max(0, k - 1))
        ends = slice(length - k, None) if largest else slice(0, k)
        order = np.argpartition(block, kth, axis)
    return order[(slice(None),) * axis + (ends,)]


def sort_best(block: Any, k: int, axis: int, largest: bool) -> Any:
    """Sort the selected elements, the best first."""
    result = np.sort(block, axis)
    return np.flip(result, axis) if largest else result


def sort_best_positions(pair: Any, k: int, axis: int, largest: bool) -> Any:
    """Return the positions of the selected elements, the best first."""
    values, positions = pair
    order = np.argsort(values, axis, kind="stable")
    result = np.take_along_axis(positions, order, axis)
    return np.flip(result, axis) if largest else result


def _topk(a: Any, k: Any, axis: int, largest: bool, *, indices: bool) -> Node:
    node = as_node(a)
    k = operator.index(k)
    if k < 0:  # Dask's request for the smallest
        k, largest = -k, not largest
    axis = np.lib.array_utils.normalize_axis_index(axis, node.meta.ndim)
    result = TopK(native(node), k, axis, largest, indices)
    return result if indices else astype.node(result, node.meta.dtype, copy=False)


@public
def topk(
    a: Any,
    k: Any,
    axis: int | None = -1,
    largest: bool = True,
    sorted: bool = True,
    return_index: bool = False,
    *,
    order: Any = None,
    **hints: Any,
) -> Any:
    """Return the ``k`` largest elements along an axis, the largest first (NaN before all).

    A negative ``k`` requests the smallest, as in Dask. The result is always sorted;
    ``parallel_kind`` and ``psrs_kinds`` are Mars's hints, ``split_every`` is Dask's.

    Parameters
    ----------
    a : array_like
        The tensor.
    k : int
        How many elements; a negative number asks for the smallest.
    axis : int, optional
        The axis; ``None`` for all elements in C's order.
    largest : bool
        Whether to return the largest or the smallest.
    sorted : bool
        Has no effect: the result is sorted.
    return_index : bool
        Whether to return their positions too.
    order : str or list of str, optional
        The fields of records that are compared first.
    **hints
        Mars's and Dask's hints, which have no effect.

    Returns
    -------
    Tensor or tuple of Tensor
        The elements; with ``return_index`` their positions too.

    Examples
    --------
    >>> mt.topk([3, 1, 4, 1, 5], 2).compute()
    array([5, 4])
    """
    _check_hints(hints)
    if axis is None:
        a, axis = ravel.node(a), 0
    if order is None:
        values = _topk(a, k, axis, largest, indices=False)
    else:
        positions = _topk_by(as_node(a), k, axis, largest, order)
        values = take_along_axis.node(a, positions, axis)
    if not return_index:
        return values
    if order is None:
        positions = _topk(a, k, axis, largest, indices=True)
    return ExecutableTuple((values, positions))


@public
def argtopk(
    a: Any,
    k: Any,
    axis: int | None = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    order: Any = None,
    **hints: Any,
) -> Node:
    """Return the positions of the ``k`` largest elements along an axis; see :func:`topk`.

    Parameters
    ----------
    a : array_like
        The tensor.
    k : int
        How many positions; a negative number asks for those of the smallest.
    axis : int, optional
        The axis; ``None`` for all elements in C's order.
    largest : bool
        Whether to look for the largest or the smallest.
    sorted : bool
        Has no effect: the result is sorted.
    order : str or list of str, optional
        The fields of records that are compared first.
    **hints
        Mars's hints, which have no effect.

    Returns
    -------
    Tensor
        The positions.

    Examples
    --------
    >>> mt.argtopk([3, 1, 4, 1, 5], 2).compute()
    array([4, 2])
    """
    _check_hints(hints)
    if axis is None:
        a, axis = ravel.node(a), 0
    if order is not None:
        return _topk_by(as_node(a), k, axis, largest, order)
    return _topk(a, k, axis, largest, indices=True)


def _topk_by(a: Node, k: Any, axis: int, largest: bool, order: Any) -> Node:
    """Return the positions of the records that are extreme in some fields."""
    k = operator.index(k)
    count = min(abs(k), length(a, axis))
    positions = argsort.node(a, axis, order=order, descending=largest == (k >= 0))
    place = axis % len(a.chunks)
    return getitem.node(positions, (slice(None),) * place + (slice(count),))


def _check_hints(hints: dict[str, Any]) -> None:
    check_keywords(hints, {"parallel_kind", "psrs_kinds", "split_every"})
