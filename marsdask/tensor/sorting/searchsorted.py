"""Positions of values in a sorted array, and counts of integers."""

from __future__ import annotations

import math
import operator
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.grids.align import aligned
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid, Look, Ref
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.select import chosen
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Axes, Node
from marsdask.core.sizes import Chunks, Unknown, known, numbers, shape_text, upper

from ..chunkwise.rechunk import recut
from ..chunkwise.single_task import broadcast_map
from ..elementwise.ufuncs import apply
from ..indexing.getitem import getitem
from ..kernels.duck_arrays import alike, as_array
from ..manipulation.shape import view
from ..operands import as_node, empty
from ..sparse.blocks import is_sparse
from ..typing import public

#: So many values are searched one by one, in more than so many chunks.
FEW_VALUES = 64
FEW_CHUNKS = 16


def places_in(block: Any, values: Any, side: Any) -> Any:
    """Return, along a new axis, the number of elements of a sorted block before each value."""
    block, values = alike(block, as_array(values))
    return np.searchsorted(block, values, side=side)[None]


@dataclass(frozen=True, eq=False)
class SearchSorted(Node):
    """Along a new axis of length one, the positions of values in a sorted vector.

    The numbers of elements before a value in all chunks add up to its position.
    """

    label: ClassVar[str] = "searchsorted"

    a: Node
    values: Node
    side: str

    @property
    def meta(self) -> Any:
        return empty(np.dtype(np.intp), len(self.values.chunks) + 1)

    @property
    def chunks(self) -> Chunks:
        return ((1,), *self.values.chunks)

    @property
    def searched(self) -> Node | None:
        bounds = [upper(size) for size in self.values.shape]
        if None in bounds or self.a is self.values:
            return None
        return self.a if math.prod(bounds) <= FEW_VALUES else None  # type: ignore[arg-type]

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        return (None,), tuple(range(1, len(self.values.chunks) + 1))

    def tile(self, a: Grid, values: Grid | None = None) -> Any:
        values = a if values is None else values  # equal operands are one input
        if self.searched is None or len(a) <= FEW_CHUNKS:
            return self._counted(a, values)
        return self._searched(a, values)

    def tile_blind(self, a: Grid, values: Grid | None = None) -> Grid:
        return self._counted(a, a if values is None else values)

    def _searched(self, a: Grid, values: Grid) -> Generator[Look, Any, Grid]:
        """Find the chunks that hold the values by their first elements, and count in those."""
        a, values = yield from resolved(a, values)
        infos = yield Look((values,))
        if any(info.sample is None for info in infos):
            return self._counted(a, values)
        wanted = np.concatenate([info.sample.reshape(-1) for info in infos])
        sizes = np.array(numbers(a.chunks[0]), np.int64)
        chunks = np.flatnonzero(sizes)
        if not len(chunks) or not len(wanted):
            return self._counted(a, values)
        places = np.unique(chunks[(yield from self._chunks_of(a, chunks, wanted))])
        before = np.append(0, sizes.cumsum())[places]
        stops = sizes[places].cumsum()
        found = self._counted(chosen(a, [tuple(places.tolist())]), values)
        options = {"stops": stops, "shifts": before - stops + sizes[places]}
        return map_blocks(moved_places, found, meta=self.meta, kwargs=options)

    def _chunks_of(self, a: Grid, chunks: Any, wanted: Any) -> Generator[Look, Any, Any]:
        """Return for each value which of the chunks is the last that begins before it, or 0."""
        firsts = map_blocks(first_element, a, chunks=((1,) * len(a),), meta=a.meta, cheap=True)
        low = np.zeros(len(wanted), np.intp)
        high = np.full(len(wanted), len(chunks))
        while np.any(low < high):
            middle = (low + high) // 2
            asked = np.unique(middle[low < high])
            infos = yield Look(tuple(Ref(firsts, (int(chunks[i]),)) for i in asked))
            begins = dict(zip(asked.tolist(), (info.sample for info in infos), strict=True))
            for i in np.flatnonzero(low < high):
                at = int(middle[i])
                if np.searchsorted(begins[at], wanted[i], side=self.side):  # type: ignore[call-overload]
                    low[i] = at + 1
                else:
                    high[i] = at
        return np.maximum(low - 1, 0)

    def _counted(self, a: Grid, values: Grid) -> Grid:
        own = tuple(range(1, values.ndim + 1))
        counts = blockwise(
            places_in,
            [(a, (0,)), (values, own)],
            chunks=((1,) * len(a), *values.chunks),
            meta=self.meta,
            kwargs={"side": self.side},
        )
        return tree(counts, Pairwise(np.add), (0,))


@kernel(view=True)
def first_element(block: Any) -> Any:
    """Return the first element of a block, if it has one."""
    return block[:1]


def moved_places(places: Any, stops: Any, shifts: Any) -> Any:
    """Return positions in all chunks for those in some of them, which end at ``stops``."""
    return places + shifts[np.minimum(stops.searchsorted(places), len(stops) - 1)]


@public
def searchsorted(
    a: Any, v: Any, side: Any = "left", sorter: Any = None, combine_size: int | None = None
) -> Node:
    """Return the positions of values in a sorted tensor. See numpy.searchsorted.

    ``combine_size`` is Mars's and has no effect.
    """
    del combine_size
    np.searchsorted(np.empty(0), 0, side)  # refuses other sides
    node = as_node(a)
    if len(node.chunks) != 1:
        problem = "object too deep" if node.chunks else "object of too small depth"
        raise ValueError(f"{problem} for desired array: a has shape {shape_text(node.shape)}")
    if sorter is not None:
        node = as_node(getitem.node(node, _checked_sorter(node, sorter)))
    values = as_node(v)
    np.promote_types(node.meta.dtype, values.meta.dtype)
    side = "left" if side.startswith("l") else "right"
    places = SearchSorted(node, values, side)
    return view(places, range(1, len(values.chunks) + 1))


def _checked_sorter(node: Node, sorter: Any) -> Node:
    """Return the positions that sort a vector; ``getitem`` would take masks and other lengths."""
    order = as_node(sorter)
    if order.meta.dtype.kind not in "iu":
        raise TypeError("sorter must only contain integers")
    if len(order.chunks) != 1:
        raise TypeError("could not parse sorter argument")
    sizes = (*order.shape, *node.shape)
    if known(sizes) and sizes[0] != sizes[1]:
        raise ValueError(
            f"sorter.size must equal a.size: sorter has {sizes[0]} elements, a {sizes[1]}"
        )
    return order


def bins_of(block: Any, bins: Any, right: bool) -> Any:
    """Return the bin of each value of a block."""
    block, bins = alike(as_array(block), as_array(bins))
    return np.digitize(block, bins, right)


@public
def digitize(x: Any, bins: Any, right: bool = False) -> Node:
    """Return the bin of each value. See numpy.digitize.

    Of a sparse tensor whose zeros are in the first bin the result is sparse.
    """
    if not isinstance(bins, Collection) and is_sparse(as_node(x, sparse=True).meta):
        np.digitize(np.empty(0), bins)  # raises for edges that are not monotonic
        options = {"bins": tuple(np.asarray(bins).tolist()), "right": bool(right)}
        return as_node(apply(bins_of, as_node(x, sparse=True), **options), sparse=True)
    node = as_node(x)
    if np.issubdtype(node.meta.dtype, np.complexfloating):
        raise TypeError("x may not be complex")
    edges = bins if isinstance(bins, Collection) else np.asarray(bins)
    if not isinstance(edges, Collection):
        np.digitize(np.empty(0), edges)  # raises for edges that are not monotonic
    elif len(edges.node.chunks) != 1:
        raise ValueError("object of too small depth for desired array")
    return broadcast_map(bins_of, node, edges, dtype=np.intp, right=bool(right))


def count_values(block: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Count the integers in a block."""
    counts = np.bincount(block, weights, minlength)
    return counts if weights is None else counts.astype(np.float64, copy=False)


def add_padded(a: Any, b: Any) -> Any:
    """Add two counts, the shorter one to the beginning of the longer one."""
    if len(a) < len(b):
        a, b = b, a
    out = a.copy()
    out[: len(b)] += b
    return out


@dataclass(frozen=True, eq=False)
class CountValues(Node):
    """The counts of the integers in a vector; the largest integer determines the length."""

    label: ClassVar[str] = "bincount"

    a: Node
    weights: tuple[Node, ...]
    minlength: int

    @property
    def meta(self) -> Any:
        return empty(np.dtype(np.float64 if self.weights else np.intp), 1)

    @property
    def chunks(self) -> Chunks:
        dtype = self.a.meta.dtype
        top = 1 if dtype.kind == "b" else np.iinfo(dtype).max if dtype.itemsize < 4 else None
        bound = None if top is None else max(self.minlength, int(top) + 1)
        return ((Unknown(self.name, -1, bound),),)

    def tile(self, a: Grid, *weights: Grid) -> Generator[Look, Any, Grid]:
        grids, _ = yield from aligned((a, *weights), recut)
        counts = map_blocks(
            count_values,
            *grids,
            chunks=(self.chunks[0] * len(grids[0]),),
            meta=self.meta,
            kwargs={"minlength": self.minlength},
        )
        return tree(counts, Pairwise(add_padded), (0,))


@public
def bincount(x: Any, weights: Any = None, minlength: int = 0, chunk_size_limit: Any = None) -> Node:
    """Count the occurrences of each integer. See numpy.bincount.

    The length is unknown until executed. Differs from NumPy: weights of an unknown number of
    elements give floats, also if there are none. ``chunk_size_limit`` is Mars's and has no effect.
    """
    del chunk_size_limit
    node = as_node(x)
    if isinstance(x, list | tuple) and not len(x):
        node = as_node(np.empty(0, np.intp))
    minlength = operator.index(minlength)
    if len(node.chunks) != 1:
        raise ValueError("object too deep for desired array" if node.chunks else "x is not 1-d")
    if not np.can_cast(node.meta.dtype, np.intp, "safe"):
        raise TypeError(f"Cannot cast array data from {node.meta.dtype!r} to {np.dtype(np.intp)!r}")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if not isinstance(x, Collection | Node) and np.min(x, initial=0) < 0:
        raise ValueError("'list' argument must have no negative elements")
    # For empty input NumPy counts integers, with or without weights.
    operands = () if weights is None or node.shape[0] == 0 else (as_node(weights),)
    lengths = (node.shape[0], *(operand.shape[0] for operand in operands))
    if known(lengths) and len(set(lengths)) > 1:
        raise ValueError("The weights and list don't have the same length.")
    for operand in operands:
        if not np.can_cast(operand.meta.dtype, np.float64, "safe"):
            raise TypeError(f"Cannot cast array data from {operand.meta.dtype!r} to float64")
    return CountValues(node, operands, minlength)
