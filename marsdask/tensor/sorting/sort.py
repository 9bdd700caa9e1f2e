"""Sorting along an axis: whole lanes if they fit, else a parallel sort by sampling.

A long vector is sampled, split at pivots into parts of similar sizes, and each part is sorted:
samplesort (Frazer and McKellar, J. ACM 17, 1970). A pivot is a value and a position, so that equal
values are split too and no part grows too large. With ``s`` sampled elements per part, at least 32,
its size has a standard deviation of about ``s ** -0.5`` of its mean, for any values.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from marsdask.core.collection import ExecutableTuple
from marsdask.core.grids.blockwise import Blockwise, map_blocks
from marsdask.core.grids.chunk_positions import SpanAt
from marsdask.core.grids.grid import Grid, Look, ResultKeys
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import loops_beside
from marsdask.core.grids.select import Select
from marsdask.core.grids.shuffle import all_to_all
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.plan import current_plan
from marsdask.core.machine.sizing import is_large, part_bytes
from marsdask.core.node import Axes, MemoryOrder, Node, SameChunks
from marsdask.core.sizes import numbers, shape_of
from marsdask.scheduler.base import SAMPLE_LIMIT

from ..chunkwise.lanes import in_lanes, lane_by_lane, lane_bytes, moved, whole_lanes
from ..chunkwise.rechunk import recut
from ..elementwise.nodes import native
from ..elementwise.ufuncs import astype, subtract
from ..indexing.assignment import assign
from ..indexing.getitem import getitem
from ..manipulation.diagonals import take_along_axis
from ..manipulation.join import flip, length
from ..manipulation.reshape import ravel
from ..operands import as_node, to_change
from ..typing import public
from ..unknown_lengths import ResultSpec, like, waits_for_lengths

#: The number of elements sampled to find the pivots.
SAMPLE = 2**14

#: For more pivots than this, counting below and above each takes longer than sorting a block.
SORT_FROM = 6


@dataclass(frozen=True, eq=False)
class Sort(SameChunks):
    """The elements (or with ``indices`` their positions) in order along an axis."""

    holds_all = True

    axis: int
    kind: str | None
    indices: bool

    @property
    def label(self) -> str:
        return "argsort" if self.indices else "sort"

    @property
    def meta(self) -> Any:
        return np.empty(self.a.meta.shape, np.intp) if self.indices else self.a.meta

    @property
    def memory_order(self) -> MemoryOrder:
        return None if self.indices else self.a.memory_order

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        return (loops_beside((self.axis,), len(self.a.chunks)),)

    def tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        if a.numblocks[self.axis] == 1 and not is_large(a.largest or 0):
            return self._lanes(a)
        (a,) = yield from resolved(a)
        if a.ndim == 1:
            return (yield from self._shuffled(a))
        if not is_large(lane_bytes(a, (self.axis,))):
            return self._lanes(in_lanes(a, (self.axis,)))
        lanes = (a.chunks[self.axis],)
        result = yield from lane_by_lane(a, (self.axis,), self._shuffled, lanes)
        order = list(range(1, a.ndim))
        order.insert(self.axis, 0)
        return moved(result, tuple(order))

    def tile_blind(self, a: Grid) -> Grid:
        """Sort each chunk, then all of a lane's in one task."""
        lanes = whole_lanes(a, (self.axis,)) if a.ndim > 1 else ((sum(numbers(a.chunks[0])),),)
        if self.indices or a.ndim > 1 or len(a) == 1:
            return self._lanes(recut(a, lanes) if a.numblocks[self.axis] > 1 else a)
        runs = map_blocks(np.sort, a)
        return gather(sort_pieces, runs, chunks=lanes, meta=self.meta)

    def _lanes(self, a: Grid) -> Grid:
        options = {"axis": self.axis, "kind": self.kind}
        func = arg_sorted if self.indices else np.sort
        return map_blocks(func, a, meta=self.meta, kwargs=options)

    def _shuffled(self, a: Grid) -> Generator[Look, Any, Grid]:
        where = SpanAt(a.chunks[0])
        width = (2 if self.indices else 1) * (a.width or 0)
        pivots = yield from find_pivots(a, where, width)
        count = len(pivots.values) + 1
        source = map_blocks(
            runs if self.indices else parts,
            a,
            varying=where,
            itemsize=width,
            kwargs={"pivots": pivots},
        )
        chunks = ((count,) * len(source),)
        sizes = map_blocks(part_sizes, source, chunks=chunks, meta=np.empty((0,), np.intp))
        infos = yield Look((sizes,), keep=(source,))
        total = sum(info.sample for info in infos)
        return all_to_all(
            source,
            0,
            None,
            sort_positions if self.indices else sort_pieces,
            tuple(map(int, total)),
            meta=np.empty((0,), self.meta.dtype),
            join=join_pairs if self.indices else np.concatenate,
        )


class Pivots(NamedTuple):
    """The pivots between parts: an element with this value at this position, or the next one."""

    values: Any
    positions: tuple[int, ...]


def find_pivots(a: Grid, where: SpanAt, width: float | None = None) -> Generator[Look, Any, Pivots]:
    """Sample a vector; return the pivots (values and positions) that split it into equal parts.

    ``width`` is the number of bytes of an element in its part, if it is not its own.
    """
    count = part_count(numbers(where.sizes), width or a.width or 8)
    rate = sample_rate(a, max(SAMPLE, 32 * count))
    share = rate * (a.width or 0)
    samples = map_blocks(sample, a, itemsize=share, kwargs={"rate": rate})
    infos = yield Look((samples,), keep=() if is_at_hand(a) else (a,))
    values = np.concatenate([info.sample for info in infos])
    positions = np.concatenate(
        [
            sample_positions(size, rate) + start
            for size, start in zip(numbers(where.sizes), where.starts, strict=False)
        ]
    )
    order = np.argsort(values, kind="stable")
    # Positions rise from chunk to chunk and within each, so that ties are in order too.
    places = [len(order) * part // count for part in range(1, count)] if len(order) else []
    indices = order[np.array(places, np.intp)]
    return Pivots(values[indices], tuple(map(int, positions[indices])))


def part_count(sizes: Sequence[int], width: float) -> int:
    """Return the number of parts: each is a pass of partitioning, so it should be small.

    Use one part per core, or more if memory requires. A part is at least as large as the largest
    chunk, and at most as large as four of these.
    """
    plan = current_plan.get()
    largest = max(1, *sizes) if sizes else 1
    fitting = part_bytes() / width
    size = min(4 * largest, max(largest, fitting))
    return max(min(len(sizes), plan.workers), math.ceil(sum(sizes) / size))


def sample_rate(a: Grid, wanted: int) -> float:
    """Return the share of sampled elements, large enough for every chunk."""
    largest = max(1, math.prod(max(numbers(sizes)) for sizes in a.chunks))
    total = max(1, math.prod(shape_of(a.chunks)))
    width = 128 if a.meta.dtype.hasobject else a.meta.dtype.itemsize
    return min(1.0, wanted / total, 0.9 * SAMPLE_LIMIT / width / largest)


def is_at_hand(grid: Grid) -> bool:
    """Tell whether reading the grid twice costs no computation."""
    rule = grid.rule
    if isinstance(rule, Select):
        return all(map(is_at_hand, rule.sources))
    return isinstance(rule, ResultKeys) or (isinstance(rule, Blockwise) and rule.cheap)


def sample_positions(size: int, rate: float) -> Any:
    """Return the sampled elements of a chunk: random, but the same ones each time."""
    count = min(size, math.ceil(size * rate))
    return (
        np.sort(np.random.default_rng(size).choice(size, count, replace=False))
        if count
        else (np.empty(0, np.intp))
    )


@kernel(scratch=0.1)
def sample(block: Any, rate: float) -> Any:
    """Return the elements at the sampled positions."""
    return block[sample_positions(len(block), rate)]


@kernel(scratch=0.2)
def parts(block: Any, start: int, stop: int, pivots: Pivots) -> list[Any]:
    """Split a block at the pivots, without order inside the parts."""
    if block.dtype.kind not in "biuf" or len(pivots.values) > SORT_FROM:
        values = np.sort(block)
        return _split(values, _cuts(values, start, stop, pivots))
    cuts = []
    for value, position in zip(pivots.values, pivots.positions, strict=True):
        below, equal = _counts(block, value)
        cuts.append(below + (_left_of(position, start, stop, equal) if start < position else 0))
    partitioned = block.copy()
    _partition(partitioned, cuts)
    return _split(partitioned, cuts)


def _counts(block: Any, value: Any) -> tuple[int, int]:
    """Return the number of elements before a value in order, and of those that equal it."""
    if block.dtype.kind == "f" and np.isnan(value):
        nans = int(np.isnan(block).sum())
        return len(block) - nans, nans
    return int(np.count_nonzero(block < value)), int(np.count_nonzero(block == value))


def _left_of(position: int, start: int, stop: int, equal: int) -> int:
    """Return the number of a block's elements equal to the pivot that precede it."""
    return equal * (min(position, stop) - start) // max(1, stop - start)


def _partition(block: Any, cuts: list[int]) -> None:
    """Partition in place at several ranks, the middle one first: each level is one pass."""
    if cuts and len(block):
        middle = len(cuts) // 2
        rank = cuts[middle]
        if 0 < rank < len(block):
            block.partition(rank)
        _partition(block[:rank], cuts[:middle])
        _partition(block[rank:], [item - rank for item in cuts[middle + 1 :]])


def _cuts(ordered: Any, start: int, stop: int, pivots: Pivots) -> list[int]:
    left = np.searchsorted(ordered, pivots.values, side="left")
    right = np.searchsorted(ordered, pivots.values, side="right")
    shares = [
        _left_of(position, start, stop, int(b - a)) if start < position else 0
        for position, a, b in zip(pivots.positions, left, right, strict=True)
    ]
    return [int(a) + share for a, share in zip(left, shares, strict=True)]


def _split(block: Any, cuts: list[int]) -> list[Any]:
    return [block[a:b] for a, b in itertools.pairwise([0, *cuts, len(block)])]


@kernel(scratch=0.7)
def runs(block: Any, start: int, stop: int, pivots: Pivots) -> list[Any]:
    """Sort a block with its positions and split both at the pivots; ties keep their order."""
    order = arg_sorted(block)
    values = block[order]
    order += start
    left = np.searchsorted(values, pivots.values, side="left")
    right = np.searchsorted(values, pivots.values, side="right")
    cuts = [
        int(a + np.searchsorted(order[a:b], position))
        for position, a, b in zip(pivots.positions, left, right, strict=True)
    ]
    return list(zip(_split(values, cuts), _split(order, cuts), strict=True))


@kernel(scratch=0.0)
def part_sizes(split: list[Any]) -> Any:
    """Return the number of elements of each part."""
    lengths = (len(part[0]) if isinstance(part, tuple) else len(part) for part in split)
    return np.fromiter(lengths, np.intp)


@kernel(scratch=0.1)
def sort_pieces(pieces: list[Any]) -> Any:
    """Join the pieces of a part and sort it."""
    out = np.concatenate(pieces)
    out.sort()
    return out


def join_pairs(pieces: list[Any]) -> Any:
    """Join the values and the positions of a part."""
    values, positions = zip(*pieces, strict=True)
    return np.concatenate(values), np.concatenate(positions)


@kernel(scratch=1.1)
def sort_positions(pieces: list[Any]) -> Any:
    """Join the pieces of a part and return the positions in the order of the values."""
    order = arg_sorted(np.concatenate([values for values, _ in pieces]))
    return np.concatenate([positions for _, positions in pieces])[order]


@kernel(scratch=1.2)
def arg_sorted(block: Any, axis: int = -1, kind: str | None = None) -> Any:
    """Return a stable order; the faster unstable one where there are no ties."""
    if kind is not None or block.ndim != 1 or block.dtype.kind not in "iuf":
        return np.argsort(block, axis=axis, kind="stable")
    order = np.argsort(block)
    if not _rises(block[order]):
        del order  # a third vector of positions would take too much memory
        return np.argsort(block, kind="stable")
    return order


def _rises(ordered: Any) -> bool:
    """Tell whether there are no ties; a NaN before the last one is a tie too."""
    return len(ordered) < 2 or bool((ordered[:-1] < ordered[1:]).all())


def _checked(a: Any, axis: Any, order: Any) -> tuple[Node, int]:
    node = as_node(a)
    if order is not None and not node.meta.dtype.names:
        raise ValueError("Cannot specify order when the array has no fields.")
    if axis is None:
        if node.meta.ndim != 1:
            node = ravel.node(node)
        axis = -1
    return node, np.lib.array_utils.normalize_axis_index(axis, node.meta.ndim)


def _in_axes(a: Any) -> Node:
    """Return an operand that has an axis: positions of a scalar are those of a vector."""
    node = as_node(a)
    return node if node.chunks else as_node(ravel.node(node))


_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _kind(kind: Any, stable: Any) -> str | None:
    if kind not in _KINDS:
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    return "stable" if stable else kind


@public
def sort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    parallel_kind: Any = None,
    psrs_kinds: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: bool = False,
    return_index: bool = False,
) -> Any:
    """Return a sorted copy, with Mars's ``return_index`` also the positions. See numpy.sort.

    ``parallel_kind`` and ``psrs_kinds`` are Mars's hints without effect. ``descending`` is the
    array API's: NaN comes first.
    """
    node, axis = _checked(a, axis, order)
    if node.meta.dtype.names:
        result = take_along_axis.node(node, _arg_sorted_records(node, axis, order), axis)
    else:
        values = Sort(native(node), axis, _kind(kind, stable), indices=False)
        result = astype.node(values, node.meta.dtype, copy=False)
    result = flip.node(result, axis) if descending else result
    if not return_index:
        return result
    how = {"order": order, "stable": stable, "descending": descending}
    return ExecutableTuple((result, argsort.node(node, axis, kind, **how)))


@public
def argsort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    parallel_kind: Any = None,
    psrs_kinds: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: bool = False,
) -> Node:
    """Return the positions that sort. See numpy.argsort.

    Differs from NumPy: equal elements always keep their order, also with ``descending``.
    """
    node, axis = _checked(_in_axes(a), axis, order)
    if descending:
        # Reversed, equal elements are in reverse order; a flip before the sort keeps their order.
        result = argsort.node(flip.node(node, axis), axis, kind, order=order, stable=stable)
        return subtract.node((length(node, axis) - 1), flip.node(result, axis))
    if node.meta.dtype.names:
        return _arg_sorted_records(node, axis, order)
    return Sort(node, axis, _kind(kind, stable), indices=True)


def _arg_sorted_records(a: Node, axis: int, order: Any) -> Node:
    """Return the order by the given fields and then by the others: by the least one first."""
    names = [order] if isinstance(order, str) else list(order or ())
    fields = a.meta.dtype.names
    if extras := [name for name in names if name not in fields]:
        raise ValueError(f"unknown field name: {extras[0]}")
    *_, least = keys = [*names, *(name for name in fields if name not in names)]
    positions = argsort.node(getitem.node(a, least), axis)
    for name in reversed(keys[:-1]):
        values = take_along_axis.node(getitem.node(a, name), positions, axis)
        positions = take_along_axis.node(positions, argsort.node(values, axis), axis)
    return positions


def _sorted(a: Any, axis: Any, dtype: Any = None) -> ResultSpec:
    return like(a if axis is not None else ravel.node(a), dtype)


def _partitioned(a: Any, axis: Any, return_index: bool, **_: Any) -> Any:
    values = _sorted(a, axis)
    return ExecutableTuple((values, _sorted(a, axis, np.intp))) if return_index else values


@public
@waits_for_lengths(_partitioned)
def partition(
    a: Any,
    kth: Any,
    axis: Any = -1,
    kind: str = "introselect",
    order: Any = None,
    return_index: bool = False,
) -> Any:
    """Return a copy with the ``kth`` elements at their sorted positions. See numpy.partition.

    Differs from NumPy: the other elements may be sorted. With Mars's ``return_index`` the positions
    follow.
    """
    _check_kth(a, kth, axis, kind)
    return sort.node(a, axis, order=order, return_index=return_index)


@public
@waits_for_lengths(lambda a, axis, **_: _sorted(a, axis, np.intp))
def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Node:
    """Return positions that place the ``kth`` elements as a sort. See numpy.argpartition.

    Differs from NumPy: the other elements may be sorted.
    """
    node = _in_axes(a)
    _check_kth(node, kth, axis, kind)
    return argsort.node(node, axis, order=order)


def _check_kth(a: Any, kth: Any, axis: Any, kind: Any) -> None:
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got {kind!r})")
    shape = as_node(a).shape
    length = math.prod(numbers(shape)) if axis is None else numbers(shape)[axis]
    for item in map(operator.index, np.atleast_1d(kth).tolist()):
        # For empty input NumPy accepts any.
        if 0 not in shape and not -length <= item < length:
            raise ValueError(f"kth(={item}) out of bounds ({length})")


@public
def sort_in_place(a: Any, axis: int = -1, **options: Any) -> None:
    """Sort the tensor in place. See numpy.ndarray.sort."""
    np.lib.array_utils.normalize_axis_index(axis, a.ndim)
    assign(a, sort.node(to_change(a, "sort array"), axis, **options))


@public
def partition_in_place(a: Any, kth: Any, axis: int = -1, **options: Any) -> None:
    """Partition the tensor in place. See numpy.ndarray.partition."""
    np.lib.array_utils.normalize_axis_index(axis, a.ndim)
    assign(a, partition.node(to_change(a, "partition array"), kth, axis, **options))
