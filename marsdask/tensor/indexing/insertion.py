"""Arrays with values put between their elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.grids.blockwise import Via, blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node, PartOf, SameMeta, Taken
from marsdask.core.sizes import Chunks, borders, numbers

from ..chunkwise.rechunk import recut
from ..elementwise.nodes import cast
from ..elementwise.ufuncs import apply
from ..manipulation.concatenation import Concatenate
from ..manipulation.deletion import (
    InsertedPositions,
    Positions,
    along,
    as_positions,
    count_before,
    is_run,
    shifted,
)
from ..manipulation.join import flip, length
from ..manipulation.reshape import ravel
from ..manipulation.shape import broadcast_to, moveaxis, normalize_axis
from ..memory_order import as_new
from ..operands import as_node
from ..typing import public
from ..unknown_lengths import resized, waits_for_lengths
from .advanced import Take
from .assigned_values import held
from .getitem import getitem
from .setitem import fit


@dataclass(frozen=True, eq=False)
class Insertion(SameMeta):
    """An array with values before some of its elements; ``values`` has its axes."""

    label: ClassVar[str] = "insert"

    values: Node
    places: Positions
    axis: int

    @property
    def chunks(self) -> Chunks:
        return self._longer(self.a.chunks)

    def _bounds(self, chunks: Chunks) -> list[int]:
        """Return how many values lie before each chunk, and how many there are."""
        starts = np.array(borders(numbers(chunks[self.axis])))
        return [*count_before(self.places, starts[:-1]).tolist(), len(self.places)]

    def _longer(self, chunks: Chunks) -> Chunks:
        more = np.diff(self._bounds(chunks))
        sizes = tuple((np.array(numbers(chunks[self.axis])) + more).tolist())
        return (*chunks[: self.axis], sizes, *chunks[self.axis + 1 :])

    def _values_before(self, places: Any) -> Any:
        """Return how many values lie before elements of the result."""
        own = self.places
        if not isinstance(own, range):
            return (own + np.arange(len(own))).searchsorted(places)
        step = own.step + 1
        return count_before(range(own.start, own.start + len(own) * step, step), places)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        span, axis, ndim = taken[self.axis], self.axis, len(taken)
        below = (*taken[:axis], None, *taken[axis + 1 :])
        a, values = part(self.a, below), part(self.values, below)
        if span is None:
            return self.replaced(a=a, values=values)
        if not span:
            return part(a, along(axis, ndim, range(0)))
        low, high = sorted((span[0], span[-1]))
        if not is_run(span, high - low):
            pool = Concatenate((a, values), axis, self.meta.dtype)
            return Take(pool, (self._sources(as_positions(span), length(a, axis)),), (axis,), axis)
        first, last = self._values_before(np.array([low, high + 1])).tolist()
        inner = self.replaced(
            a=part(a, along(axis, ndim, range(low - first, high + 1 - last))),
            values=part(values, along(axis, ndim, range(first, last))),
            places=shifted(self.places[first:last], low - first),
        )
        start = span.start - low
        return part(
            inner, along(axis, ndim, range(start, start + len(span) * span.step, span.step))
        )

    def _sources(self, places: Any, size: int) -> Any:
        """Return the positions of elements of the result in the array, followed by the values."""
        before = self._values_before(places)
        new = self._values_before(places + 1) > before
        return np.where(new, size + before, places - before)

    def tile(self, a: Grid, values: Grid) -> Grid:
        axis, own = self.axis, tuple(range(a.ndim))
        bounds = self._bounds(a.chunks)
        counts = np.diff(bounds)
        places = np.flatnonzero(counts)
        sizes = tuple(counts[places].tolist()) or (0,)
        values = recut(values, (*a.chunks[:axis], sizes, *a.chunks[axis + 1 :]))
        table = np.clip(np.cumsum(counts > 0) - 1, 0, None)
        via = Via(axis, tuple(table.tolist()))
        return blockwise(
            with_inserted,
            [(a, own), (values, (*own[:axis], via, *own[axis + 1 :]))],
            chunks=self._longer(a.chunks),
            meta=self.meta,
            varying=InsertedPositions(
                self.name, axis, self.places, borders(numbers(a.chunks[axis])), bounds
            ),
            kwargs={"axis": axis},
        )


@kernel(scratch=1.0)
def with_inserted(block: Any, values: Any, places: Positions, axis: int) -> Any:
    """Return a block with values before some elements, itself if there are none."""
    return np.insert(block, as_positions(places), values, axis) if len(places) else block


@public
@waits_for_lengths(lambda arr, axis, **_: resized(arr, axis))
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Node:
    """Put values in front of positions along an axis. See numpy.insert."""
    node = as_node(ravel.node(arr) if axis is None else arr)
    axis = normalize_axis(0 if axis is None else axis, len(node.chunks))
    shape = numbers(node.shape)
    new = as_node(held(values, node.meta.dtype))
    where = obj.compute() if isinstance(obj, Collection) else obj
    places = _places(where, shape[axis], axis)
    if len(places) == 1 and new.meta.ndim:
        new = as_node(getitem.node(new, (None,) * (len(shape) - new.meta.ndim)))
        if not isinstance(where, slice) and np.ndim(where) == 0:
            new = as_node(moveaxis.node(new, 0, axis))
        places = np.repeat(as_positions(places), length(new, axis))
    wide = (*shape[:axis], len(places), *shape[axis + 1 :])
    added = as_node(broadcast_to.node(apply(cast, fit(new, wide), dtype=node.meta.dtype), wide))
    if isinstance(places, range):
        if places.step < 0:
            places, added = places[::-1], as_node(flip.node(added, axis))
    elif (np.diff(places) < 0).any():
        order = np.argsort(places, kind="stable")
        places = places[order]
        added = as_node(getitem.node(added, (slice(None),) * axis + (order,)))
    return as_new(Insertion(node, added, places, axis), node)


def _places(where: Any, size: int, axis: int) -> Positions:
    """Return positions in an axis or at its end; invalid ones raise NumPy's errors."""
    if isinstance(where, slice):
        return range(*where.indices(size))
    array = np.asarray(where)
    if array.dtype == np.bool_:
        if array.ndim != 1:
            raise ValueError("boolean array argument obj to insert must be one-dimensional")
        array = array.nonzero()[0]
    elif array.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if not array.size and not isinstance(where, np.ndarray):
        return np.zeros(0, np.intp)
    if array.dtype.kind not in "iu":
        if array.size == 1:
            slice(array.item()).indices(size)  # raises as NumPy does for one position
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    array = array.astype(np.intp).reshape(-1)
    if array.size and not -size <= (low := array.min()) <= (high := array.max()) <= size:
        bad = low if low < -size else high
        raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {size}")
    return np.where(array < 0, array + size, array)
