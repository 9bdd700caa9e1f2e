"""Distinct elements, and sets of them.

Each chunk finds its own distinct elements first. Few distinct elements are merged in one chunk.
Many are partitioned at sampled pivots, as in :mod:`.sort`. Equal elements go to the same part, once
per chunk, so parts have at most similar sizes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from marsdask.core.collection import ExecutableTuple
from marsdask.core.display.suggestions import check_keywords
from marsdask.core.grids.blockwise import Axes, blockwise, map_blocks
from marsdask.core.grids.chunk_positions import SpanAt
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.shuffle import all_to_all
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MultiOutput, Node, Part, PartOf, SameChunks, Taken
from marsdask.core.sizes import Chunks, numbers, unknown_sizes, upper

from ..chunkwise.map_blocks import map_blocks as map_chunks
from ..chunkwise.rechunk import rechunk
from ..elementwise.nodes import native
from ..elementwise.ufuncs import astype, logical_not
from ..indexing.getitem import getitem
from ..kernels.duck_arrays import alike
from ..manipulation.join import concatenate
from ..manipulation.reshape import ravel, reshape
from ..manipulation.shape import moveaxis, normalize_axis
from ..named_results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult
from ..operands import as_node, empty
from ..typing import public
from ..unknown_lengths import ResultSpec, like, resized, waits_for_lengths
from .sort import find_pivots, sort

#: The largest number of distinct elements of all chunks that are merged in one chunk.
FEW = 2**22


class Distinct(NamedTuple):
    """The distinct elements of a piece, in order, with their first positions and counts."""

    values: Any
    first: Any
    counts: Any


@dataclass(frozen=True, eq=False)
class Unique(MultiOutput):
    """The distinct elements of a vector in order, with NumPy's optional results.

    Outputs: values, first positions, counts, and for each element the index of its value.
    """

    a: Node
    equal_nan: bool

    @property
    def meta(self) -> Any:
        index = np.empty((0,), np.intp)
        return (self.a.meta, index, index, index)

    @property
    def chunks(self) -> Any:
        bounds = [upper(size) for size in self.a.chunks[0]]
        whole = None if None in bounds else sum(bound for bound in bounds if bound is not None)
        sizes = unknown_sizes(self.name, [whole])
        return ((sizes,), (sizes,), (sizes,), self.a.chunks)

    def tile(self, a: Grid) -> Generator[Look, Any, tuple[Grid, ...]]:
        (a,) = yield from resolved(a)
        own = self._own(a)
        sizes = map_blocks(length_of, own, chunks=((1,) * len(a),), meta=np.empty((0,), np.intp))
        infos = yield Look((sizes,), keep=(own,))
        few = sum(int(info.sample[0]) for info in infos) <= FEW
        if len(a) == 1 or few or self.a.meta.dtype.names:
            return self._met(a, own)
        pivots = yield from find_pivots(a, SpanAt(a.chunks[0]))
        values = np.unique(pivots.values)
        values = values[np.equal(values, values)]  # put every nan, complex ones too, in one part
        parts = map_blocks(cut_at, own, itemsize=own.width, kwargs={"values": values})
        pieces = all_to_all(
            parts,
            0,
            None,
            merge,
            (1,) * (len(values) + 1),
            merge_kwargs={"equal_nan": self.equal_nan},
            itemsize=3.0 * (a.width or 8),
            join=merge,
        )
        sizes = map_blocks(length_of, pieces, meta=np.empty((0,), np.intp))
        infos = yield Look((sizes,), keep=(pieces,))
        lengths = tuple(int(info.sample[0]) for info in infos)
        return self._outputs(a, pieces, ((0,),), (lengths,))

    def tile_blind(self, a: Grid) -> tuple[Grid, ...]:
        """Merge the distinct elements in one chunk, whatever their number."""
        return self._met(a, self._own(a))

    def _own(self, a: Grid) -> Grid:
        return map_blocks(
            distinct,
            a,
            varying=SpanAt(a.chunks[0]),
            itemsize=3.0 * (a.width or 8),
            kwargs={"equal_nan": self.equal_nan},
        )

    def _met(self, a: Grid, own: Grid) -> tuple[Grid, ...]:
        options = {"equal_nan": self.equal_nan}
        pieces = gather(merge, own, chunks=((1,),), itemsize=0, kwargs=options)
        return self._outputs(a, pieces, ((None,),), self.chunks[0])

    def _outputs(
        self, a: Grid, merged: Grid, axes: tuple[Axes], chunks: Chunks
    ) -> tuple[Grid, ...]:
        fields = [
            blockwise(
                field_of,
                [(merged, axes[0])],
                chunks=chunks,
                meta=self.meta[position],
                kwargs={"position": position},
                cheap=True,
            )
            for position in range(3)
        ]
        size = ((upper_total(chunks),),)
        table, first = (
            gather(concatenate_distinct, field, chunks=size, meta=field.meta)
            for field in fields[:2]
        )
        if self.equal_nan or self.a.meta.dtype.kind in "biuSU":
            sources: list[tuple[Grid, Axes]] = [(a, (0,)), (table, (None,))]
            inverse = blockwise(places, sources, chunks=a.chunks, meta=self.meta[3])
        else:
            inverse = blockwise(
                places_of_each_nan,
                [(a, (0,)), (table, (None,)), (first, (None,))],
                chunks=a.chunks,
                meta=self.meta[3],
                varying=SpanAt(a.chunks[0]),
            )
        return (*fields, inverse)


def upper_total(chunks: Chunks) -> int:
    """Return the largest possible length of an axis, for the projection of memory."""
    return sum(upper(size) or 0 for size in chunks[0])


@kernel(scratch=4.0)
def distinct(block: Any, start: int, stop: int, equal_nan: bool) -> Distinct:
    """Return the distinct elements of a chunk."""
    values, first, counts = np.unique(
        block, return_index=True, return_counts=True, equal_nan=equal_nan
    )
    return Distinct(values, first + start, counts)


def length_of(piece: Distinct) -> Any:
    """Return the number of distinct elements."""
    return np.array([len(piece.values)])


@kernel(scratch=4.0)
def merge(pieces: list[tuple[Any, ...]], equal_nan: bool) -> Distinct:
    """Join the distinct elements of pieces, which are in the order of positions."""
    values, first, counts = map(np.concatenate, zip(*pieces, strict=True))
    if not len(values):
        return Distinct(values, first, counts)
    order = np.argsort(values, kind="stable")
    distinct, starts = np.unique(values[order], return_index=True, equal_nan=equal_nan)
    return Distinct(distinct, first[order][starts], np.add.reduceat(counts[order], starts))


@kernel(scratch=0.0)
def cut_at(piece: Distinct, values: Any) -> list[tuple[Any, ...]]:
    """Split at values, as views; equal elements of all chunks go to the same part.

    Schedulers read single entries of lists on disk if these are plain tuples.
    """
    cuts = [0, *np.searchsorted(piece.values, values).tolist(), len(piece.values)]
    return [tuple(field[a:b] for field in piece) for a, b in itertools.pairwise(cuts)]


def field_of(piece: Distinct, position: int) -> Any:
    """Return one of the three arrays."""
    return piece[position]


@kernel(scratch=0.0)
def concatenate_distinct(blocks: list[Any]) -> Any:
    """Return all distinct elements."""
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


@kernel(scratch=1.0)
def places(block: Any, table: Any) -> Any:
    """Return the index of each element among the distinct ones."""
    indices = np.searchsorted(table, block)
    if table.dtype.kind == "c":  # nan is sorted by both parts, but is one value
        indices = np.minimum(indices, len(table) - np.count_nonzero(np.isnan(table)))
    return indices


@kernel(scratch=1.0)
def places_of_each_nan(block: Any, table: Any, first: Any, start: int, stop: int) -> Any:
    """Return the index of each element; each NaN is the distinct one of its position."""
    found = np.searchsorted(table, block)
    # The ufunc takes no records.
    missing, own = (np.flatnonzero(item != item) for item in (block, table))  # noqa: PLR0124
    order = np.argsort(first[own])
    found[missing] = own[order[np.searchsorted(first[own], missing + start, sorter=order)]]
    return found


def _distinct(
    ar: Any,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    axis: Any,
    **_: Any,
) -> Any:
    values = resized(ar, axis)
    places = like(ar, np.intp)
    if axis is not None:
        places = ResultSpec(places.dtype, (places.lengths[axis],))
    spec = ResultSpec(places.dtype, (None,))
    flags = (return_index, return_inverse, return_counts)
    more = [outcome for outcome, flag in zip((spec, places, spec), flags, strict=True) if flag]
    return ExecutableTuple((values, *more)) if more else values


@public
@waits_for_lengths(_distinct)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    **hints: Any,
) -> Any:
    """Return the distinct elements in order. See numpy.unique.

    The distinct parts along an ``axis`` are merged in one chunk. ``aggregate_size`` is Mars's hint,
    and ``sorted`` NumPy's: the results are always sorted.
    """
    check_keywords(hints, {"aggregate_size", "sorted"})
    node = as_node(ar)
    if axis is not None:
        axis = normalize_axis(axis, node.meta.ndim)
    if axis is not None and node.meta.ndim != 1:
        return _unique_along(node, axis, (return_index, return_inverse, return_counts))
    if node.meta.dtype.names:
        raise NotImplementedError(
            "unique() of records is not supported; use drop_duplicates() of a DataFrame"
        )
    flags = (return_index, return_inverse, return_counts)
    values, *more = _outputs(ravel.node(node), flags, equal_nan=equal_nan)
    if return_inverse and node.meta.ndim != 1:
        place = int(return_index)
        more[place] = reshape.node(more[place], numbers(node.shape))
    return ExecutableTuple((values, *more)) if more else values


def _outputs(a: Any, flags: tuple[bool, ...], *, equal_nan: bool) -> list[Node]:
    """Return the distinct elements of a vector and the optional results, in NumPy's order."""
    node = as_node(a)
    parts = Unique(native(node), equal_nan)
    values = astype.node(Part(parts, 0), node.meta.dtype, copy=False)
    more: list[Node] = [Part(parts, i) for i, flag in zip((1, 3, 2), flags, strict=True) if flag]
    return [values, *more]


def _unique_along(node: Node, axis: int, flags: tuple[bool, ...]) -> Any:
    """Return the distinct parts along an axis: each becomes a record."""
    own, node = node.meta.dtype, native(node)
    dtype = node.meta.dtype
    if dtype.hasobject:
        raise TypeError(f"The axis argument to unique is not supported for dtype {dtype}")
    rows = moveaxis.node(node, axis, 0)
    count, *shape = numbers(rows.shape)
    width = math.prod(shape)
    flat = rechunk.node(reshape.node(rows, (count, width)), {1: -1})
    kind = np.dtype([(f"f{i}", dtype) for i in range(width)]) if width else np.dtype(np.int8)
    records = map_chunks.node(as_records, flat, dtype=kind, drop_axis=1, kind=kind)
    values, *more = _outputs(records, flags, equal_nan=False)
    new = tuple(range(1, len(shape) + 1))
    sizes = (None, *((n,) for n in shape))
    how = {"dtype": dtype, "new_axis": new, "chunks": sizes, "meta": empty(dtype, 1 + len(shape))}
    result = map_chunks.node(as_rows, values, kind=dtype, shape=tuple(shape), **how)
    result = astype.node(moveaxis.node(result, 0, axis), own, copy=False)
    return ExecutableTuple((result, *more)) if more else result


def as_records(block: Any, kind: Any) -> Any:
    """Return rows as records; empty rows are all equal."""
    block = np.ascontiguousarray(block)
    return block.view(kind).reshape(len(block)) if block.shape[1] else np.zeros(len(block), kind)


def as_rows(records: Any, kind: Any, shape: tuple[int, ...]) -> Any:
    """Return records as rows again, possibly of several axes."""
    rows = records.view(kind) if records.dtype.names else np.empty(0, kind)
    return rows.reshape(len(records), *shape)


@dataclass(frozen=True, eq=False)
class IsIn(SameChunks):
    """Whether each element is among those of a vector."""

    among: Node

    @property
    def meta(self) -> Any:
        return np.empty(self.a.meta.shape, bool)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        return self.replaced(a=part(self.a, taken))

    def tile(self, a: Grid, among: Grid) -> Grid:
        size = math.prod(upper_total((sizes,)) for sizes in among.chunks)
        table = gather(flat_unique, among, chunks=((size,),), meta=among.meta)
        axes: Axes = tuple(range(a.ndim))
        return blockwise(are_in, [(a, axes), (table, (None,))], chunks=a.chunks, meta=self.meta)


@kernel(scratch=2.0)
def are_in(block: Any, table: Any) -> Any:
    """Return which elements of a block are in a table."""
    block, table = alike(block, table)
    return np.isin(block, table)


@kernel(scratch=2.0)
def flat_unique(blocks: list[Any]) -> Any:
    """Return the distinct elements of all blocks; objects without an order may repeat."""
    elements = np.concatenate([block.reshape(-1) for block in blocks])
    try:
        return np.unique(elements)
    except TypeError:
        if elements.dtype != object:
            raise
        return elements


@public
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Node:
    """Tell which elements are among others, whose distinct ones fit in memory. See numpy.isin.

    ``assume_unique`` and ``kind`` are NumPy's hints without effect.
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    among = as_node(element), as_node(test_elements)
    if kind == "table" and any(node.meta.dtype.kind not in "biu" for node in among):
        raise ValueError("The 'table' method is only for booleans and integers; use kind='sort'.")
    result = IsIn(*among)
    return logical_not.node(result) if invert else result


@public
def union1d(ar1: Any, ar2: Any, **hints: Any) -> Node:
    """Return the union, in order. See numpy.union1d. ``aggregate_size`` is Mars's hint."""
    check_keywords(hints, {"aggregate_size"})
    result: Node = unique.node(concatenate.node([ravel.node(ar1), ravel.node(ar2)]))
    return result


@public
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Return the intersection, in order, and its first positions in each. See numpy.intersect1d."""
    dtype = np.result_type(as_node(ar1).meta.dtype, as_node(ar2).meta.dtype)
    if not return_indices:
        mine = unique.node(ar1)
        return astype.node(getitem.node(mine, isin.node(mine, ar2)), dtype, copy=False)
    mine, place = unique.node(ar1, return_index=True)
    values2, other_place = unique.node(ar2, return_index=True)
    is_shared = isin.node(mine, values2)
    common = astype.node(getitem.node(mine, is_shared), dtype, copy=False)
    theirs = getitem.node(other_place, isin.node(values2, mine))
    return ExecutableTuple((common, getitem.node(place, is_shared), theirs))


@public
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Node:
    """Return the elements of the first that are not in the second. See numpy.setdiff1d."""
    mine = ravel.node(ar1) if assume_unique else unique.node(ar1)
    return getitem.node(mine, isin.node(mine, ar2, invert=True))


@public
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Node:
    """Return the elements of exactly one of both, in order. See numpy.setxor1d."""
    apart = setdiff1d.node(ar1, ar2), setdiff1d.node(ar2, ar1)
    result: Node = sort.node(concatenate.node(apart))
    return result


@public
def unique_all(x: Any, /) -> Any:
    """Return the distinct elements, their positions, and their counts. See numpy.unique_all."""
    return UniqueAllResult(*unique.node(x, True, True, True, equal_nan=False))


@public
def unique_counts(x: Any, /) -> Any:
    """Return the distinct elements and their counts. See numpy.unique_counts."""
    return UniqueCountsResult(*unique.node(x, return_counts=True, equal_nan=False))


@public
def unique_inverse(x: Any, /) -> Any:
    """Return the distinct elements and the inverse. See numpy.unique_inverse."""
    return UniqueInverseResult(*unique.node(x, return_inverse=True, equal_nan=False))


@public
def unique_values(x: Any, /) -> Node:
    """Return the distinct elements. See numpy.unique_values."""
    result: Node = unique.node(x, equal_nan=False)
    return result
